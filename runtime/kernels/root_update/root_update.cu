#include "runtime/kernels/root_update/launch.cuh"

namespace coll::kernels {
namespace {

__global__ void setStepKernel(UpdateStep *step, UpdateStep value) { *step = value; }
__global__ void nextStepKernel(UpdateStep *step) { root_update::nextStep(step); }

} // namespace

rt::Status launchRootUpdate(const PeerGroup &group, const RootUpdate &update,
                            const AnyOptimizer &optimizer, void *stream) {
  return std::visit([&](const auto &o) { return launchRootUpdateAs(group, update, o, stream); },
                    optimizer);
}

rt::Status launchSetStep(UpdateStep *step, const UpdateStep &value, void *stream) {
  if (!step)
    return rt::Status::invalid("root update: `step` is null");
  UpdateStep copy = value;
  void *arguments[] = {&step, &copy};
  return launchKernel("set step", reinterpret_cast<const void *>(setStepKernel), 1, 1, 0, arguments,
                      stream);
}

rt::Status launchNextStep(UpdateStep *step, void *stream) {
  if (!step)
    return rt::Status::invalid("root update: `step` is null");
  void *arguments[] = {&step};
  return launchKernel("next step", reinterpret_cast<const void *>(nextStepKernel), 1, 1, 0,
                      arguments, stream);
}

} // namespace coll::kernels
