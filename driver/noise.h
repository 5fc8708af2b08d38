//===- noise.h - how far a step moves by rounding alone -----------------*- C++ -*-===//
//
// Two correct runs of one step differ: sums are formed in another order, and rounding errors grow
// with every step. To measure how much, the step is run again on one device several times, from
// inputs that are moved by one unit in the last place.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_NOISE_H
#define COLL_DRIVER_NOISE_H

#include "driver/trainer.h"

namespace coll::run {

/// The distance of one tensor from its twin, over all draws.
struct Noise {
  double largest = 0; // of |Δ|
  double rms = 0;     // the largest root mean square of Δ
};

/// The noise of all outputs of a run.
struct RunNoise {
  std::vector<Noise> state;   // by state argument
  std::vector<Noise> results; // by free result
  Noise losses;               // of all steps, as one tensor
};

/// Runs the steps of `baseline` again on `single`, which made it, `draws` times from inputs that
/// are moved by one unit in the last place, and adds what that changes to `noise`. Tensors of
/// integers and of narrow floats are not moved, nor are zeros.
llvm::Error measureNoise(rt::Executor &single, const Tensors &state, BatchSource &batches,
                         const RunResult &baseline, uint64_t seed, int draws, RunNoise &noise);

/// More runs of the same steps, by other code, are more draws.
llvm::Error addDraw(rt::Executor &executor, const Tensors &state, BatchSource &batches,
                    const RunResult &baseline, RunNoise &noise);

/// Moves each element of an f32 or f64 tensor by one unit in the last place, up, down, or not at
/// all; zeros and what is not finite stay.
void moveByOneUnit(rt::HostTensor &tensor, Random &random);

} // namespace coll::run

#endif // COLL_DRIVER_NOISE_H
