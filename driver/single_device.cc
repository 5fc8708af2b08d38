//===- single_device.cc - the step on one device, to compare with -----------------===//

#include "driver/single_device.h"

#include "compiler/error.h"
#include "driver/trainer.h"

namespace coll::run {

// Runs in each round of measure(): with moved inputs, and with other roundings, each of which is
// compiled by itself.
constexpr int kDraws = 4;
constexpr uint32_t kRoundings = 2;

llvm::Expected<LaunchedStep> SingleDevice::compile(const Target &target) {
  auto code = compiler_.compile(file_, target);
  if (!code)
    return code.takeError();
  return launchStep(std::move(*code), execution_);
}

llvm::Error SingleDevice::launch() {
  if (step_.executor)
    return llvm::Error::success();
  llvm::Expected<LaunchedStep> step = compile(target_);
  if (!step)
    return step.takeError();
  step_ = std::move(*step);
  return llvm::Error::success();
}

/// The states and the batch, as a user gives them.
static std::vector<rt::TensorInfo> inputsOf(const rt::Descriptor &descriptor) {
  std::vector<rt::TensorInfo> inputs;
  for (const rt::StateInfo &state : descriptor.states)
    inputs.push_back(state.info);
  llvm::copy_if(descriptor.args, std::back_inserter(inputs),
                [](const rt::TensorInfo &arg) { return !arg.isState(); });
  return inputs;
}

llvm::Error SingleDevice::checkFits(const rt::Descriptor &other) {
  const rt::Descriptor &own = step_.executor->descriptor();
  auto check = [&](const std::vector<rt::TensorInfo> &ours,
                   const std::vector<rt::TensorInfo> &theirs, llvm::StringRef what) -> llvm::Error {
    if (ours.size() != theirs.size())
      return makeError("'" + file_.path + "' has " + counted(ours.size(), what.str()) +
                       ", the step that runs has " + llvm::Twine(theirs.size()));
    for (size_t i = 0; i < ours.size(); ++i)
      if (ours[i].dtype != theirs[i].dtype || ours[i].shape != theirs[i].shape)
        return makeError("'" + file_.path + "': " + what + " " + llvm::Twine(i) + " is " +
                         rt::typeString(ours[i].dtype, ours[i].shape) +
                         ", that of the step that runs is " +
                         rt::typeString(theirs[i].dtype, theirs[i].shape));
    return llvm::Error::success();
  };
  if (llvm::Error error = check(inputsOf(own), inputsOf(other), "argument"))
    return error;
  return check(freeResults(own), freeResults(other), "result");
}

llvm::Expected<RunResult> SingleDevice::run(const Tensors &state, BatchSource &batches,
                                            int64_t steps, std::optional<size_t> loss) {
  if (llvm::Error error = launch())
    return error;
  RunResult result;
  result.loss = loss;
  if (llvm::Error error = runSteps(*step_.executor, state, batches, steps, result))
    return error;
  return result;
}

bool SingleDevice::hasNarrowFloats() const {
  llvm::StringRef text = file_.text->getBuffer();
  return text.contains("f16") || text.contains("f8E");
}

llvm::Error SingleDevice::measure(Twin twin, const Tensors &state, BatchSource &batches,
                                  const RunResult &baseline, uint64_t seed, int round,
                                  RunNoise &noise) {
  if (llvm::Error error =
          measureNoise(*step_.executor, state, batches, baseline, seed + round, kDraws, noise))
    return error;
  if (!hasNarrowFloats())
    return llvm::Error::success();
  for (uint32_t k = 1; k <= kRoundings; ++k) {
    Target target = target_;
    target.roundings =
        twin == Twin::OurOwn ? mlir::coll::Roundings::Shaken : mlir::coll::Roundings::Chance;
    target.roundingSeed = round * kRoundings + k;
    llvm::Expected<LaunchedStep> step = compile(target);
    if (!step)
      return step.takeError();
    if (llvm::Error error = addDraw(*step->executor, state, batches, baseline, noise))
      return error;
  }
  return llvm::Error::success();
}

} // namespace coll::run
