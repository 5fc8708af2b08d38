// query_side.cuh - code shared by the kernels whose blocks have queries and loop over the keys that
// these see.

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_QUERY_SIDE_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_QUERY_SIDE_CUH

#include "runtime/kernels/attention/warp_rows.cuh"

namespace coll::kernels::attention {

// In shared memory: kOwnTiles tiles of the block's own rows, then two stages of keys and values.
template <typename Form, uint32_t kOwnTiles>
class QuerySide {
protected:
  using Products = typename Form::Products;
  using Element = typename Products::Element;
  using OwnRows = Tile<Element, Form::kDim, Form::kRows>;
  using StepRows = Tile<Element, Form::kDim, Form::kStep>;
  static constexpr uint32_t kBlocks = Form::kBlocks, kSteps = Form::kStep / 8;
  static constexpr uint32_t kStagesAt = kOwnTiles * OwnRows::kBytes;
  static constexpr uint32_t kEndOfStages = kStagesAt + 4 * StepRows::kBytes;

  COLL_DEVICE QuerySide(const Attention &a, const AttentionBuffers &buffers, char *shared)
      : a_(a), buffers_(buffers), place_(a, a.heads), dim_(static_cast<uint32_t>(a.dim)),
        shared_(simt::sharedAddress(shared)) {
    const int64_t tiles = (a.queries + Form::kRows - 1) / Form::kRows;
    query_ = static_cast<int32_t>((tiles - 1 - place_.tile) * Form::kRows);
    keys_ = static_cast<int32_t>(a.keys);
    ahead_ = static_cast<int32_t>(a.causal ? a.keys - a.queries : a.keys);
    const int32_t last = query_ + static_cast<int32_t>(Form::kRows) + ahead_;
    steps_ = static_cast<uint32_t>((last < keys_ ? last : keys_) +
                                   static_cast<int32_t>(Form::kStep) - 1) /
             Form::kStep;
    kvHead_ = place_.head / (a.heads / a.kvHeads);
    row_ = simt::threadIndex() / simt::kWarpThreads * Form::kWarpRows;
  }

  COLL_DEVICE OwnRows own(uint32_t tile) const { return {shared_ + tile * OwnRows::kBytes}; }
  COLL_DEVICE StepRows keys(uint32_t step) const {
    return {shared_ + kStagesAt + step % 2 * 2 * StepRows::kBytes};
  }
  COLL_DEVICE StepRows values(uint32_t step) const { return {keys(step).base + StepRows::kBytes}; }

  // The block's rows of a tensor of queries.
  template <typename Pointer>
  COLL_DEVICE auto rowsOf(Pointer tensor, const AttentionRows &rows) const {
    return rowsAt<Element>(tensor, rows, place_.batch, place_.head, query_);
  }
  COLL_DEVICE int64_t rowsLeft() const { return a_.queries - query_; }
  // The position of lse and delta of the block's first row.
  COLL_DEVICE int64_t statisticsAt() const {
    return (place_.batch * a_.heads + place_.head) * a_.queries + query_;
  }
  // The block's row that this lane has in half `half`, of 8 rows, of the warp's rows.
  COLL_DEVICE uint32_t rowOf(uint32_t half) const { return row_ + half * 8 + simt::lane() / 4; }

  COLL_DEVICE void loadStep(uint32_t step) const {
    const int64_t first = int64_t{step} * Form::kStep;
    keys(step).template load<Form::kThreads>(
        rowsAt<Element>(buffers_.k, a_.k, place_.batch, kvHead_, first), a_.k.row, keys_ - first,
        dim_);
    values(step).template load<Form::kThreads>(
        rowsAt<Element>(buffers_.v, a_.v, place_.batch, kvHead_, first), a_.v.row, keys_ - first,
        dim_);
    simt::commitCopies();
  }

  // Replaces the elements of keys that a query does not see by `by`.
  COLL_DEVICE void hide(Sums (&sums)[kBlocks][kSteps], uint32_t step, float by) const {
    const int32_t first = static_cast<int32_t>(step * Form::kStep);
    const int32_t row = query_ + static_cast<int32_t>(row_);
    const int32_t seen = row + ahead_ < keys_ - 1 ? row + ahead_ : keys_ - 1; // by all rows
    if (first + static_cast<int32_t>(Form::kStep) - 1 <= seen)
      return;
    forEach(sums, [&](float &sum, uint32_t, uint32_t r, uint32_t column) {
      const int32_t key = first + static_cast<int32_t>(column);
      if (key >= keys_ || key > row + static_cast<int32_t>(r) + ahead_)
        sum = by;
    });
  }

  const Attention &a_;
  const AttentionBuffers &buffers_;
  const Place place_;
  const uint32_t dim_;
  const SharedAddress shared_;
  int32_t query_, keys_;
  int32_t ahead_; // query i sees the keys up to i + ahead_
  uint32_t steps_, row_;
  int64_t kvHead_;
};

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_QUERY_SIDE_CUH
