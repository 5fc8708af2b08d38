// clipped_sgd.h - an optimizer that a user could write: see
// runtime/kernels/root_update/optimizers.h for the form.
//
// Clips each gradient, averages it over time and shrinks the step as 1 / sqrt(t).

#ifndef COLL_TEST_KERNELS_CLIPPED_SGD_H
#define COLL_TEST_KERNELS_CLIPPED_SGD_H

#include "runtime/kernels/root_update/optimizers.h"

namespace coll::kernels::test {

struct ClippedSgd {
  float limit = 0.5f;
  float decay = 0.75f;

  static constexpr int kSlots = 1;
  struct Step {
    float size;
  };
  COLL_HOST_DEVICE Step prepare(const UpdateStep &now) const {
    return {now.learningRate / std::sqrt(static_cast<float>(now.step))};
  }
  COLL_HOST_DEVICE float apply(const Step &step, float parameter, float gradient,
                               float *slots) const {
    const float clipped = std::fmin(std::fmax(gradient, -limit), limit);
    slots[0] = decay * slots[0] + (1 - decay) * clipped;
    return parameter - step.size * slots[0];
  }
};

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_CLIPPED_SGD_H
