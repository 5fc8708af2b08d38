#include "runtime/kernels/root_update_launch.cuh"

namespace coll::kernels {
namespace {

__global__ void nextStepKernel(UpdateStep *step) { root_update::nextStep(step); }

} // namespace

rt::Status launchRootUpdate(const PeerGroup &group, const RootUpdate &update,
                            const AnyOptimizer &optimizer, void *stream) {
  return std::visit([&](const auto &o) { return launchRootUpdateAs(group, update, o, stream); },
                    optimizer);
}

rt::Status launchNextStep(UpdateStep *step, void *stream) {
  if (!step)
    return rt::Status::invalid("root update: `step` is null");
  void *arguments[] = {&step};
  return launchKernel("next step", reinterpret_cast<const void *>(nextStepKernel), 1, 1, 0,
                      arguments, stream);
}

} // namespace coll::kernels
