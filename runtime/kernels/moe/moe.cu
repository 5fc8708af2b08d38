#include "runtime/kernels/moe/moe.h"

#include "runtime/kernels/launch.h"
#include "runtime/kernels/moe/combine_device.cuh"
#include "runtime/kernels/moe/dispatch_device.cuh"
#include "runtime/kernels/moe/layout_device.cuh"
#include "runtime/kernels/moe/notify_device.cuh"

#include <algorithm>

namespace coll::kernels {

using rt::Status;

namespace {

extern __shared__ __align__(128) char moeShared[];

// A rehearsal launch is a grid of one warp, which no real call has.
__device__ __forceinline__ bool isRehearsal() { return blockDim.x == 32 && gridDim.x == 1; }

__global__ void __launch_bounds__(kMoeCountThreads)
    moeLayout(const __grid_constant__ moe::Layout plan) {
  __shared__ moe::LayoutScratch scratch;
  if (!isRehearsal())
    moe::Layouter(plan.call, scratch).run();
}

__global__ void __launch_bounds__(kMoeNotifyThreads)
    moeNotify(const __grid_constant__ PeerGroup group, const __grid_constant__ moe::Notify plan) {
  __shared__ moe::NotifyScratch scratch;
  if (!isRehearsal())
    moe::Notifier(group, plan.call, scratch).run(plan.what);
}

__global__ void __launch_bounds__(kMoeThreads, 1)
    moeDispatch(const __grid_constant__ PeerGroup group,
                const __grid_constant__ moe::Dispatch plan) {
  if (plan.pieces.count != 0)
    moe::Dispatcher(group, plan, moeShared).run();
}

template <typename Type>
__global__ void __launch_bounds__(kMoeThreads, 1)
    moeCombine(const __grid_constant__ PeerGroup group, const __grid_constant__ moe::Combine plan) {
  if (plan.pieces.count != 0)
    moe::Combiner<Type>(group, plan, moeShared).run();
}

template <typename Kernel>
Status launch(const char *name, Kernel *kernel, const MoeGrid &grid, size_t sharedBytes,
              void **arguments, void *stream) {
  const auto address = reinterpret_cast<const void *>(kernel);
  COLL_RETURN_IF_ERROR(prepareKernel(address, sharedBytes).status());
  return launchKernel(name, address, static_cast<int>(grid.blocks), static_cast<int>(grid.threads),
                      sharedBytes, arguments, stream);
}

template <typename Kernel, typename Plan>
Status launchPeers(const char *name, Kernel *kernel, const PeerGroup &group, Plan plan,
                   const MoeGrid &grid, void *stream) {
  PeerGroup argument = group;
  void *arguments[] = {&argument, &plan};
  return launch(name, kernel, grid, 0, arguments, stream);
}

// The same with a ring for each warp, with as many warps as shared memory allows.
template <typename Kernel, typename Plan>
Status launchRings(const char *name, Kernel *kernel, const PeerGroup &group, Plan plan,
                   const MoeGrid &grid, uint64_t (*bytesOf)(uint32_t), void *stream) {
  const rt::Result<uint32_t> most = fittingThreads(kMoeThreads, bytesOf);
  if (!most)
    return most.status();
  const auto address = reinterpret_cast<const void *>(kernel);
  COLL_RETURN_IF_ERROR(prepareKernel(address, bytesOf(*most)).status());
  const uint32_t threads = std::min(grid.threads, *most);
  PeerGroup argument = group;
  void *arguments[] = {&argument, &plan};
  return launchKernel(name, address, static_cast<int>(grid.blocks), static_cast<int>(threads),
                      bytesOf(threads), arguments, stream);
}

Status launchCombine(const char *name, const PeerGroup &group, const moe::Combine &plan,
                     const MoeGrid &grid, void *stream) {
  return moe::visitRowType(plan.call.dtype, [&](auto type) {
    return launchRings(name, moeCombine<decltype(type)>, group, plan, grid, moe::combineSharedBytes,
                       stream);
  });
}

} // namespace

Status launchMoeLayout(const MoeLayoutArgs &args, void *stream) {
  COLL_RETURN_IF_ERROR(checkMoeLayout(args));
  moe::Layout plan = moe::planLayout(args);
  void *arguments[] = {&plan};
  return launch("moe layout", moeLayout, {plan.blocks, plan.threads}, 0, arguments, stream);
}

Status launchMoeNotify(const PeerGroup &group, const MoeNotifyArgs &args, void *stream) {
  COLL_RETURN_IF_ERROR(checkMoeNotify(group, args));
  const moe::Notify plan = moe::planNotify(group, args);
  return launchPeers("moe notify", moeNotify, group, plan, {plan.blocks, plan.threads}, stream);
}

Status launchMoeDispatch(const PeerGroup &group, const MoeDispatchArgs &args, void *stream) {
  COLL_RETURN_IF_ERROR(checkMoeDispatch(group, args));
  const moe::Dispatch plan = moe::planDispatch(group, args);
  return launchRings("moe dispatch", moeDispatch, group, plan, plan.call.grid,
                     moe::dispatchSharedBytes, stream);
}

Status launchMoeCombine(const PeerGroup &group, const MoeCombineArgs &args, void *stream) {
  COLL_RETURN_IF_ERROR(checkMoeCombine(group, args));
  const moe::Combine plan = moe::planCombine(group, args);
  return launchCombine("moe combine", group, plan, plan.call.grid, stream);
}

Status rehearseMoeKernels(const PeerGroup &group, void *stream) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  const MoeGrid one = {1, moe::kWarp};
  moe::Layout layout = {};
  void *arguments[] = {&layout};
  COLL_RETURN_IF_ERROR(launch("a rehearsal", moeLayout, one, 0, arguments, stream));
  COLL_RETURN_IF_ERROR(launchPeers("a rehearsal", moeNotify, group, moe::Notify{}, one, stream));
  COLL_RETURN_IF_ERROR(launchRings("a rehearsal", moeDispatch, group, moe::Dispatch{}, one,
                                   moe::dispatchSharedBytes, stream));
  for (CollDtype dtype : {kCollBf16, kCollF16, kCollF32}) {
    moe::Combine combine = {};
    combine.call.dtype = dtype;
    COLL_RETURN_IF_ERROR(launchCombine("a rehearsal", group, combine, one, stream));
  }
  return Status::okay();
}

} // namespace coll::kernels
