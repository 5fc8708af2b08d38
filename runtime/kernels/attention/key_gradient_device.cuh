// key_gradient_device.cuh - the gradient of attention by its keys and values: dK and dV.
//
// A block has Form::kRows keys of one head, and loops over the queries that see them, of all heads
// that share these keys. Scores are transposed: a row belongs to a key.
//
// 1. The keys, values, and the first queries with their dO, lse and delta are loaded.
// 2. When a step's rows have arrived, the loads of the next step's begin.
// 3. Weights p from the scores and lse; dV += p * dO.
// 4. dp = values * dO^T; ds = p (dp - delta); dK += ds * queries.
// 5. dK is scaled; both are stored.

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_KEY_GRADIENT_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_KEY_GRADIENT_DEVICE_CUH

#include "runtime/kernels/attention/warp_rows.cuh"

namespace coll::kernels::attention {

template <typename Form>
class KeyGradient {
  using Products = typename Form::Products;
  using Element = typename Products::Element;
  using OwnRows = Tile<Element, Form::kDim, Form::kRows>;
  using StepRows = Tile<Element, Form::kDim, Form::kStep>;
  static constexpr uint32_t kBlocks = Form::kBlocks, kSteps = Form::kStep / 8;
  static constexpr uint32_t kStagesAt = 2 * OwnRows::kBytes;
  static constexpr uint32_t kStatisticsAt = kStagesAt + 4 * StepRows::kBytes;
  static constexpr uint32_t kStatisticsBytes = Form::kStep * sizeof(float);

public:
  static constexpr uint32_t kSharedBytes = kStatisticsAt + 4 * kStatisticsBytes;

  COLL_DEVICE KeyGradient(const Attention &a, const AttentionBuffers &buffers, char *shared)
      : a_(a), buffers_(buffers), place_(a, a.kvHeads), dim_(static_cast<uint32_t>(a.dim)),
        shared_(simt::sharedAddress(shared)) {
    key_ = static_cast<int32_t>(place_.tile * Form::kRows);
    queries_ = static_cast<int32_t>(a.queries);
    ahead_ = static_cast<int32_t>(a.causal ? a.keys - a.queries : a.keys);
    const int32_t first = key_ > ahead_ ? key_ - ahead_ : 0;
    firstStep_ = static_cast<uint32_t>(first) / Form::kStep;
    headSteps_ = (static_cast<uint32_t>(queries_) + Form::kStep - 1) / Form::kStep - firstStep_;
    sharers_ = static_cast<uint32_t>(a.heads / a.kvHeads);
    row_ = simt::threadIndex() / simt::kWarpThreads * Form::kWarpRows;
  }

  COLL_DEVICE void run() {
    own(0).template load<Form::kThreads>(rowsOf(buffers_.k, a_.k), a_.k.row, rowsLeft(), dim_);
    own(1).template load<Form::kThreads>(rowsOf(buffers_.v, a_.v), a_.v.row, rowsLeft(), dim_);
    loadStep(0);
    clear(dK_);
    clear(dV_);
    const uint32_t steps = headSteps_ * sharers_;
    for (uint32_t step = 0; step < steps; ++step) {
      Products::arrive();
      if (step == 0) {
        keys_.load(own(0), row_);
        values_.load(own(1), row_);
      }
      if (step + 1 < steps)
        loadStep(step + 1);
      add(step);
    }
    finish();
  }

private:
  COLL_DEVICE OwnRows own(uint32_t tile) const { return {shared_ + tile * OwnRows::kBytes}; }
  COLL_DEVICE StepRows queries(uint32_t step) const {
    return {shared_ + kStagesAt + step % 2 * 2 * StepRows::kBytes};
  }
  COLL_DEVICE StepRows gradients(uint32_t step) const {
    return {queries(step).base + StepRows::kBytes};
  }
  COLL_DEVICE SharedAddress lse(uint32_t step) const {
    return shared_ + kStatisticsAt + step % 2 * 2 * kStatisticsBytes;
  }
  COLL_DEVICE SharedAddress deltas(uint32_t step) const { return lse(step) + kStatisticsBytes; }

  // The block's rows of a tensor of keys.
  template <typename Pointer>
  COLL_DEVICE auto rowsOf(Pointer tensor, const AttentionRows &rows) const {
    return rowsAt<Element>(tensor, rows, place_.batch, place_.head, key_);
  }
  COLL_DEVICE int64_t rowsLeft() const { return a_.keys - key_; }
  // The first query of a step.
  COLL_DEVICE int32_t queryOf(uint32_t step) const {
    return static_cast<int32_t>((firstStep_ + step % headSteps_) * Form::kStep);
  }

  COLL_DEVICE void loadStep(uint32_t step) const {
    const int64_t first = queryOf(step);
    const int64_t head = place_.head * sharers_ + step / headSteps_;
    queries(step).template load<Form::kThreads>(
        rowsAt<Element>(buffers_.q, a_.q, place_.batch, head, first), a_.q.row, queries_ - first,
        dim_);
    gradients(step).template load<Form::kThreads>(
        rowsAt<Element>(buffers_.dO, a_.dO, place_.batch, head, first), a_.dO.row, queries_ - first,
        dim_);
    static_assert(Form::kStep <= Form::kThreads);
    const uint32_t row = simt::threadIndex();
    if (row < Form::kStep) {
      const bool isThere = first + row < queries_;
      const int64_t at = (place_.batch * a_.heads + head) * queries_ + (isThere ? first + row : 0);
      simt::copyAsync4(lse(step) + row * 4, buffers_.lse + at, isThere);
      simt::copyAsync4(deltas(step) + row * 4, static_cast<const float *>(buffers_.scratch) + at,
                       isThere);
    }
    simt::commitCopies();
  }

  COLL_DEVICE void add(uint32_t step) {
    Sums scores[kBlocks][kSteps], ds[kBlocks][kSteps];
    Products::multiplyRows(scores, keys_, queries(step));
    Products::multiplyRows(ds, values_, gradients(step));
    Products::template await<1>(scores);
    const float unit = a_.scale * kLog2E;
    forEachQuery(scores, lse(step), [&](float &score, uint32_t, uint32_t, uint32_t, float lse) {
      score = simt::exp2(score * unit - lse * kLog2E);
    });
    hide(scores, step);
    Weights<Products, kBlocks, kSteps> weights, weightsOfKeys;
    weights.pack(scores);
    Products::template await<0>(ds);
    Products::addWeighted(dV_, weights.part, gradients(step));
    forEachQuery(ds, deltas(step),
                 [&](float &value, uint32_t i, uint32_t j, uint32_t e, float delta) {
                   value = scores[i][j][e] * (value - delta);
                 });
    weightsOfKeys.pack(ds);
    Products::addWeighted(dK_, weightsOfKeys.part, queries(step));
    Products::template await<0>(dV_);
    Products::template await<0>(dK_);
  }

  // Calls visit with the statistics of each query of the step.
  template <typename Visit>
  static COLL_DEVICE void forEachQuery(Sums (&sums)[kBlocks][kSteps], SharedAddress known,
                                       Visit visit) {
    COLL_UNROLL()
    for (uint32_t j = 0; j < kSteps; ++j) {
      float pair[2];
      simt::loadShared2(pair, known + (j * 8 + simt::lane() % 4 * 2) * 4);
      COLL_UNROLL()
      for (uint32_t i = 0; i < kBlocks; ++i)
        COLL_UNROLL()
      for (uint32_t e = 0; e < 4; ++e)
        visit(sums[i][j][e], i, j, e, pair[e % 2]);
    }
  }

  // Sets the weight to 0 for keys that a query does not see, and for queries that do not exist.
  COLL_DEVICE void hide(Sums (&weights)[kBlocks][kSteps], uint32_t step) const {
    const int32_t first = queryOf(step);
    const int32_t row = key_ + static_cast<int32_t>(row_);
    const int32_t last = row + static_cast<int32_t>(Form::kWarpRows) - 1;
    if (last <= first + ahead_ && first + static_cast<int32_t>(Form::kStep) <= queries_)
      return;
    forEach(weights, [&](float &weight, uint32_t, uint32_t r, uint32_t column) {
      const int32_t query = first + static_cast<int32_t>(column);
      if (query >= queries_ || row + static_cast<int32_t>(r) > query + ahead_)
        weight = 0;
    });
  }

  COLL_DEVICE void finish() {
    forEach(dK_, [&](float &sum, uint32_t, uint32_t, uint32_t) { sum *= a_.scale; });
    Products::release();
    storeRows<Form>(dK_, own(0), row_, rowsOf(buffers_.dK, a_.dK), a_.dK.row, rowsLeft(), dim_);
    storeRows<Form>(dV_, own(1), row_, rowsOf(buffers_.dV, a_.dV), a_.dV.row, rowsLeft(), dim_);
  }

  const Attention &a_;
  const AttentionBuffers &buffers_;
  const Place place_;
  const uint32_t dim_;
  const SharedAddress shared_;
  int32_t key_, queries_;
  int32_t ahead_; // query i sees the keys up to i + ahead_
  uint32_t firstStep_, headSteps_, sharers_, row_;
  typename Products::template LeftRows<kBlocks, OwnRows, 8> keys_, values_;
  Sums dK_[kBlocks][Form::kDim / 8], dV_[kBlocks][Form::kDim / 8];
};

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_KEY_GRADIENT_DEVICE_CUH
