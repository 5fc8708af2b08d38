// forward_device.cuh - attention: o and lse.
//
// A block has Form::kRows queries of one head, whose output and softmax stay in registers, and
// loops over the keys from the first to the last that its queries see:
//
// 1. The queries and the first keys and values are loaded.
// 2. When a step's keys and values have arrived, the loads of the next step's begin.
// 3. Scores of the step; if they are much larger than the earlier ones, the sums are rescaled.
// 4. output += exp(scores - base) * values, where a row's base is its largest score at some step.
// 5. The output is divided by the rows' sums and stored, with lse.

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_FORWARD_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_FORWARD_DEVICE_CUH

#include "runtime/kernels/attention/query_side.cuh"

namespace coll::kernels::attention {

template <typename Form>
class Forward : QuerySide<Form, 1> {
  using Base = QuerySide<Form, 1>;
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
  using typename Base::OwnRows;
  using typename Base::Products;

public:
  static constexpr uint32_t kSharedBytes = Base::kEndOfStages;

  COLL_DEVICE Forward(const Attention &a, const AttentionBuffers &buffers, char *shared)
      : Base(a, buffers, shared) {}

  COLL_DEVICE void run() {
    own(0).template load<Form::kThreads>(rowsOf(buffers_.q, a_.q), a_.q.row, rowsLeft(), dim_);
    this->loadStep(0);
    begin();
    for (uint32_t step = 0; step < steps_; ++step) {
      Products::arrive();
      if (step == 0)
        queries_.load(own(0), row_);
      if (step + 1 < steps_)
        this->loadStep(step + 1);
      add(step);
    }
    finish();
  }

private:
  COLL_DEVICE void begin() {
    clear(output_);
    COLL_UNROLL()
    for (uint32_t half = 0; half < 2 * kBlocks; ++half) {
      base_[half] = kLowest;
      sum_[half] = 0;
    }
  }

  COLL_DEVICE void add(uint32_t step) {
    Sums scores[kBlocks][kSteps];
    Products::multiplyRows(scores, queries_, keys(step));
    Products::template await<0>(scores);
    this->hide(scores, step, kLowest);
    weigh(scores);
    Weights<Products, kBlocks, kSteps> weights;
    weights.pack(scores);
    Products::addWeighted(output_, weights.part, values(step));
    Products::template await<0>(output_);
  }

  // Scores become weights, not yet divided by their sum. In powers of two: exp(x) = 2^(x log2 e).
  COLL_DEVICE void weigh(Sums (&scores)[kBlocks][kSteps]) {
    float unit = a_.scale * kLog2E;
    if (!(unit > 0)) { // else the largest product is the largest score
      forEach(scores, [&](float &score, uint32_t, uint32_t, uint32_t) {
        score = score == kLowest ? score : score * unit;
      });
      unit = 1;
    }
    raiseBase(scores, unit);
    float base[2 * kBlocks];
    COLL_UNROLL()
    for (uint32_t half = 0; half < 2 * kBlocks; ++half)
      base[half] = base_[half] == kLowest ? 0 : base_[half]; // no key seen so far: weights are 0
    forEach(scores, [&](float &score, uint32_t half, uint32_t, uint32_t) {
      score = simt::exp2(score * unit - base[half]);
      sum_[half] += score;
    });
  }

  // A weight is 2 to the power of its score minus a base, the largest score of its row so far. The
  // base, and the sums made with it, stay as they are until a score is larger by kSlack: weights
  // are far from overflow then, and most steps change nothing.
  COLL_DEVICE void raiseBase(const Sums (&scores)[kBlocks][kSteps], float unit) {
    constexpr float kSlack = 8;
    float most[2 * kBlocks];
    COLL_UNROLL()
    for (uint32_t half = 0; half < 2 * kBlocks; ++half)
      most[half] = kLowest;
    forEach(scores, [&](float score, uint32_t half, uint32_t, uint32_t) {
      most[half] = fmaxf(most[half], score);
    });
    bool rises = false;
    COLL_UNROLL()
    for (uint32_t half = 0; half < 2 * kBlocks; ++half) {
      // Four lanes have the elements of a row.
      most[half] = fmaxf(most[half], simt::shuffleXor(most[half], 1));
      most[half] = fmaxf(most[half], simt::shuffleXor(most[half], 2)) * unit;
      rises |= most[half] > base_[half] + kSlack;
    }
    if (simt::ballot(rises) == 0)
      return;
    COLL_UNROLL()
    for (uint32_t half = 0; half < 2 * kBlocks; ++half) {
      const float base = fmaxf(base_[half], most[half]);
      const float shrink = base == kLowest ? 1 : simt::exp2(base_[half] - base);
      base_[half] = base;
      sum_[half] *= shrink;
      rescale(half, shrink);
    }
  }

  COLL_DEVICE void rescale(uint32_t half, float factor) {
    COLL_UNROLL()
    for (uint32_t j = 0; j < Form::kDim / 8; ++j)
      COLL_UNROLL()
    for (uint32_t e = 0; e < 2; ++e)
      output_[half / 2][j][half % 2 * 2 + e] *= factor;
  }

  COLL_DEVICE void finish() {
    COLL_UNROLL()
    for (uint32_t half = 0; half < 2 * kBlocks; ++half) {
      sum_[half] += simt::shuffleXor(sum_[half], 1);
      sum_[half] += simt::shuffleXor(sum_[half], 2);
      rescale(half, 1 / sum_[half]);
      const uint32_t row = this->rowOf(half);
      if (simt::lane() % 4 == 0 && row < rowsLeft())
        buffers_.lse[this->statisticsAt() + row] =
            base_[half] / kLog2E + simt::logarithm(sum_[half]);
    }
    Products::release();
    storeRows<Form>(output_, own(0), row_, rowsOf(buffers_.o, a_.o), a_.o.row, rowsLeft(), dim_);
  }

  typename Products::template LeftRows<kBlocks, OwnRows, 16> queries_;
  Sums output_[kBlocks][Form::kDim / 8];
  float base_[2 * kBlocks], sum_[2 * kBlocks]; // of a row; sum_: only this lane's part of it
};

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_FORWARD_DEVICE_CUH
