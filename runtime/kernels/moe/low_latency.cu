#include "runtime/kernels/moe/low_latency.h"

#include "runtime/kernels/launch.h"
#include "runtime/kernels/moe/low_latency_combine_device.cuh"
#include "runtime/kernels/moe/low_latency_dispatch_device.cuh"
#include "runtime/kernels/moe/tuning.h"

#include <algorithm>

namespace coll::kernels {

using rt::Status;

namespace {

extern __shared__ __align__(128) char lowLatencyShared[];

// A rehearsal launch has no phases.
__global__ void __launch_bounds__(kLowLatencyThreads, 2)
    lowLatencyDispatch(const __grid_constant__ PeerGroup group,
                       const __grid_constant__ low_latency::Dispatch plan) {
  if (plan.args.call.phases != 0)
    low_latency::Dispatcher(group, plan, lowLatencyShared).run();
}

__global__ void __launch_bounds__(kLowLatencyThreads, 2)
    lowLatencyCombine(const __grid_constant__ PeerGroup group,
                      const __grid_constant__ low_latency::Combine plan) {
  if (plan.args.call.phases != 0)
    low_latency::Combiner(group, plan, lowLatencyShared).run();
}

template <typename Kernel, typename Plan>
Status launch(const char *name, Kernel *kernel, const PeerGroup &group, Plan plan,
              const MoeGrid &grid, uint64_t sharedBytes, uint64_t mostSharedBytes, void *stream) {
  const auto address = reinterpret_cast<const void *>(kernel);
  const rt::Result<PreparedKernel> prepared = prepareKernel(address, mostSharedBytes);
  if (!prepared)
    return prepared.status();
  // Blocks wait for each other, so all must run at once. Members need not have the same number.
  const uint32_t each = std::min(prepared->blocksFor(sharedBytes), uint32_t{2});
  uint32_t most = each * static_cast<uint32_t>(prepared->processors);
  if (group.maxBlocks != 0)
    most = std::min(most, group.maxBlocks);
  PeerGroup argument = group;
  void *arguments[] = {&argument, &plan};
  return launchKernel(name, address, static_cast<int>(std::min(grid.blocks, most)),
                      static_cast<int>(grid.threads), sharedBytes, arguments, stream);
}

// The most shared memory for any shape; the kernel's limit is set once.
uint64_t mostDispatchShared() {
  LowLatencyShape largest;
  largest.maxTokens = kLowLatencyTokens;
  largest.numTopk = kMoeTopk;
  return low_latency::dispatchSharedBytes(largest);
}

Status launchDispatch(const char *name, const PeerGroup &group, const low_latency::Dispatch &plan,
                      const MoeGrid &grid, void *stream) {
  return launch(name, lowLatencyDispatch, group, plan, grid,
                low_latency::dispatchSharedBytes(plan.args.call.shape), mostDispatchShared(),
                stream);
}
Status launchCombine(const char *name, const PeerGroup &group, const low_latency::Combine &plan,
                     const MoeGrid &grid, void *stream) {
  return launch(name, lowLatencyCombine, group, plan, grid, low_latency::combineSharedBytes(),
                low_latency::combineSharedBytes(), stream);
}

} // namespace

Status launchLowLatencyDispatch(const PeerGroup &group, const LowLatencyDispatchArgs &args,
                                void *stream) {
  COLL_RETURN_IF_ERROR(checkLowLatencyDispatch(group, args));
  const low_latency::Dispatch plan = low_latency::planDispatch(group, args);
  return launchDispatch("moe low-latency dispatch", group, plan, plan.args.call.grid, stream);
}

Status launchLowLatencyCombine(const PeerGroup &group, const LowLatencyCombineArgs &args,
                               void *stream) {
  COLL_RETURN_IF_ERROR(checkLowLatencyCombine(group, args));
  const low_latency::Combine plan = low_latency::planCombine(group, args);
  return launchCombine("moe low-latency combine", group, plan, plan.args.call.grid, stream);
}

Status rehearseLowLatencyKernels(const PeerGroup &group, void *stream) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  const MoeGrid one = {1, simt::kWarpThreads};
  low_latency::Dispatch dispatch = {};
  dispatch.args.call.phases = 0;
  dispatch.args.call.shape.maxTokens = kLowLatencyTokens;
  dispatch.args.call.shape.numTopk = kMoeTopk;
  COLL_RETURN_IF_ERROR(launchDispatch("a rehearsal", group, dispatch, one, stream));
  low_latency::Combine combine = {};
  combine.args.call.phases = 0;
  return launchCombine("a rehearsal", group, combine, one, stream);
}

} // namespace coll::kernels
