// query_gradient_device.cuh - the gradient of attention by its queries: dQ, and delta for the keys.
//
// A block has Form::kRows queries of one head, and loops over the keys that they see:
//
// 1. The queries, dO, and the first keys and values are loaded; delta is computed and stored.
// 2. When a step's keys and values have arrived, the loads of the next step's begin.
// 3. Weights p from the scores and lse; dp = dO * values^T; ds = p (dp - delta).
// 4. dQ += ds * keys.
// 5. dQ is scaled and stored.

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_QUERY_GRADIENT_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_QUERY_GRADIENT_DEVICE_CUH

#include "runtime/kernels/attention/query_side.cuh"

namespace coll::kernels::attention {

template <typename Form>
class QueryGradient : QuerySide<Form, 2> {
  using Base = QuerySide<Form, 2>;
  using Base::a_;
  using Base::buffers_;
  using Base::dim_;
  using Base::kBlocks;
  using Base::keys;
  using Base::kSteps;
  using Base::own;
  using Base::row_;
  using Base::rowsLeft;
  using Base::rowsOf;
  using Base::steps_;
  using Base::values;
  using typename Base::Element;
  using typename Base::OwnRows;
  using typename Base::Products;

public:
  static constexpr uint32_t kSharedBytes = Base::kEndOfStages + Form::kRows * sizeof(float);

  COLL_DEVICE QueryGradient(const Attention &a, const AttentionBuffers &buffers, char *shared)
      : Base(a, buffers, shared) {}

  COLL_DEVICE void run() {
    own(0).template load<Form::kThreads>(rowsOf(buffers_.q, a_.q), a_.q.row, rowsLeft(), dim_);
    own(1).template load<Form::kThreads>(rowsOf(buffers_.dO, a_.dO), a_.dO.row, rowsLeft(), dim_);
    this->loadStep(0);
    clear(sums_);
    for (uint32_t step = 0; step < steps_; ++step) {
      Products::arrive();
      if (step + 1 < steps_)
        this->loadStep(step + 1);
      if (step == 0)
        begin();
      add(step);
    }
    finish();
  }

private:
  COLL_DEVICE SharedAddress deltas() const { return this->shared_ + Base::kEndOfStages; }

  COLL_DEVICE void begin() {
    queries_.load(own(0), row_);
    gradients_.load(own(1), row_);
    computeDelta();
    COLL_UNROLL()
    for (uint32_t half = 0; half < 2 * kBlocks; ++half) {
      const uint32_t row = this->rowOf(half);
      delta_[half] = simt::loadShared(deltas() + row * 4);
      lse_[half] = row < rowsLeft() ? buffers_.lse[this->statisticsAt() + row] * kLog2E : 0;
    }
  }

  // Delta of the warp's rows, eight lanes a row, into shared memory and the scratch memory.
  COLL_DEVICE void computeDelta() const {
    constexpr uint32_t kLanes = 8;
    const uint32_t part = simt::lane() % kLanes;
    const Element *o = rowsOf(static_cast<const void *>(buffers_.o), a_.o);
    COLL_UNROLL()
    for (uint32_t r = 0; r < Form::kWarpRows; r += simt::kWarpThreads / kLanes) {
      const uint32_t row = row_ + r + simt::lane() / kLanes;
      const bool isThere = row < rowsLeft();
      float sum = 0;
      for (uint32_t at = part * OwnRows::kPieceElems; isThere && at < dim_;
           at += kLanes * OwnRows::kPieceElems)
        sum += Products::dot(simt::loadGlobal16(o + row * a_.o.row + at),
                             simt::loadShared16(own(1).at(row, at / OwnRows::kPieceElems)));
      for (int mask = 1; mask < static_cast<int>(kLanes); mask *= 2)
        sum += simt::shuffleXor(sum, mask);
      if (part == 0)
        simt::storeShared(deltas() + row * 4, sum);
      if (part == 0 && isThere)
        static_cast<float *>(buffers_.scratch)[this->statisticsAt() + row] = sum;
    }
    simt::syncWarp();
  }

  COLL_DEVICE void add(uint32_t step) {
    Sums scores[kBlocks][kSteps], ds[kBlocks][kSteps];
    Products::multiplyRows(scores, queries_, keys(step));
    Products::multiplyRows(ds, gradients_, values(step));
    Products::template await<1>(scores);
    const float unit = a_.scale * kLog2E;
    forEach(scores, [&](float &score, uint32_t half, uint32_t, uint32_t) {
      score = simt::exp2(score * unit - lse_[half]);
    });
    this->hide(scores, step, 0);
    Products::template await<0>(ds);
    forEachOf(ds, scores, [&](float &value, float weight, uint32_t half) {
      value = weight * (value - delta_[half]);
    });
    Weights<Products, kBlocks, kSteps> weights;
    weights.pack(ds);
    Products::addWeighted(sums_, weights.part, keys(step));
    Products::template await<0>(sums_);
  }

  COLL_DEVICE void finish() {
    forEach(sums_, [&](float &sum, uint32_t, uint32_t, uint32_t) { sum *= a_.scale; });
    Products::release();
    storeRows<Form>(sums_, own(0), row_, rowsOf(buffers_.dQ, a_.dQ), a_.dQ.row, rowsLeft(), dim_);
  }

  typename Products::template LeftRows<kBlocks, OwnRows, 8> queries_, gradients_;
  Sums sums_[kBlocks][Form::kDim / 8];
  float delta_[2 * kBlocks], lse_[2 * kBlocks]; // lse in powers of two
};

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_QUERY_GRADIENT_DEVICE_CUH
