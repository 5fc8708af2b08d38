//===- noise.cc - how far a step moves by rounding alone --------------------------===//

#include "driver/noise.h"

#include "driver/check.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace coll::run {
namespace {

/// The batches of another source, each element moved by one unit in the last place.
class MovedBatches : public BatchSource {
public:
  MovedBatches(BatchSource &source, uint64_t seed) : source_(source), seed_(seed) {}

  int64_t numSteps() const override { return source_.numSteps(); }
  llvm::Expected<Tensors> batch(int64_t step) override {
    llvm::Expected<Tensors> tensors = source_.batch(step);
    Random random(seed_ + step);
    if (tensors)
      for (rt::HostTensor &tensor : *tensors)
        moveByOneUnit(tensor, random);
    return tensors;
  }

private:
  BatchSource &source_;
  uint64_t seed_;
};

template <typename Real>
void moveElements(rt::HostTensor &tensor, Random &random) {
  const Real kInfinity = std::numeric_limits<Real>::infinity();
  Real *elements = tensor.as<Real>();
  for (int64_t i = 0, e = numElements(tensor); i < e; ++i) {
    int64_t choice = random.below(3);
    if (choice < 2 && elements[i] != 0 && std::isfinite(elements[i]))
      elements[i] = std::nextafter(elements[i], choice ? kInfinity : -kInfinity);
  }
}

void widen(Noise &noise, const Comparison &moved) {
  noise.largest = std::max(noise.largest, moved.largest);
  noise.rms = std::max(noise.rms, moved.rms);
}

} // namespace

void moveByOneUnit(rt::HostTensor &tensor, Random &random) {
  if (tensor.dtype == kCollF32)
    moveElements<float>(tensor, random);
  else if (tensor.dtype == kCollF64)
    moveElements<double>(tensor, random);
}

llvm::Error addDraw(rt::Executor &executor, const Tensors &state, BatchSource &batches,
                    const RunResult &baseline, RunNoise &noise) {
  RunResult run;
  run.loss = baseline.loss;
  if (llvm::Error error = runSteps(executor, state, batches, baseline.numSteps(), run))
    return error;
  noise.state.resize(baseline.state.size());
  noise.results.resize(baseline.results.size());
  for (size_t i = 0; i < run.state.size(); ++i)
    widen(noise.state[i], compareTensors("", run.state[i], baseline.state[i], {}));
  for (size_t k = 0; k < run.results.size(); ++k)
    widen(noise.results[k], compareTensors("", run.results[k], baseline.results[k], {}));
  widen(noise.losses, compareLosses(run.losses, baseline.losses, {}));
  return llvm::Error::success();
}

llvm::Error measureNoise(rt::Executor &single, const Tensors &state, BatchSource &batches,
                         const RunResult &baseline, uint64_t seed, int draws, RunNoise &noise) {
  Random random(seed);
  for (int draw = 0; draw < draws; ++draw) {
    Tensors moved = state;
    for (rt::HostTensor &tensor : moved)
      moveByOneUnit(tensor, random);
    MovedBatches movedBatches(batches, random.next());
    if (llvm::Error error = addDraw(single, moved, movedBatches, baseline, noise))
      return error;
  }
  return llvm::Error::success();
}

} // namespace coll::run
