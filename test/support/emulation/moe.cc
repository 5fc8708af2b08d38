#include "test/support/emulation/moe.h"

#include "runtime/kernels/moe/combine_device.cuh"
#include "runtime/kernels/moe/dispatch_device.cuh"
#include "runtime/kernels/moe/layout_device.cuh"
#include "runtime/kernels/moe/low_latency_combine_device.cuh"
#include "runtime/kernels/moe/low_latency_dispatch_device.cuh"
#include "runtime/kernels/moe/notify_device.cuh"
#include "runtime/kernels/moe/relay_device.cuh"

namespace coll::kernels {

using rt::Result;

namespace {

template <typename Args>
Args small(Args args) {
  args.threads = args.threads ? args.threads : moe::kWarp;
  return args;
}

template <typename Args>
Args smallGrid(Args args) {
  args.grid = {args.grid.blocks ? args.grid.blocks : 2,
               args.grid.threads ? args.grid.threads : moe::kWarp};
  return args;
}
template <typename Args>
Args smallCall(Args args) {
  args.call = smallGrid(args.call);
  return args;
}

} // namespace

Result<simt::Grid> emulatedMoeLayout(const MoeLayoutArgs &args) {
  COLL_RETURN_IF_ERROR(checkMoeLayout(args));
  const moe::Layout plan = moe::planLayout(small(args));
  return simt::Grid{
      {plan.blocks, plan.threads, sizeof(moe::LayoutScratch)}, [plan](char *shared) {
        moe::Layouter(plan.call, *reinterpret_cast<moe::LayoutScratch *>(shared)).run();
      }};
}

Result<simt::Grid> emulatedMoeNotify(const PeerGroup &group, const MoeNotifyArgs &args) {
  COLL_RETURN_IF_ERROR(checkMoeNotify(group, args));
  const moe::Notify plan = moe::planNotify(group, small(args));
  return simt::Grid{
      {plan.blocks, plan.threads, sizeof(moe::NotifyScratch)}, [group, plan](char *shared) {
        moe::Notifier(group, plan.call, *reinterpret_cast<moe::NotifyScratch *>(shared))
            .run(plan.what);
      }};
}

Result<simt::Grid> emulatedMoeDispatch(const PeerGroup &group, const MoeDispatchArgs &args) {
  COLL_RETURN_IF_ERROR(checkMoeDispatch(group, args));
  const moe::Dispatch plan = moe::planDispatch(group, smallGrid(args));
  const MoeGrid &grid = plan.call.grid;
  return simt::Grid{{grid.blocks, grid.threads, moe::dispatchSharedBytes(grid.threads)},
                    [group, plan](char *shared) { moe::Dispatcher(group, plan, shared).run(); }};
}

Result<simt::Grid> emulatedMoeCombine(const PeerGroup &group, const MoeCombineArgs &args) {
  COLL_RETURN_IF_ERROR(checkMoeCombine(group, args));
  const moe::Combine plan = moe::planCombine(group, smallGrid(args));
  const MoeGrid &grid = plan.call.grid;
  return simt::Grid{{grid.blocks, grid.threads, moe::combineSharedBytes(grid.threads)},
                    [group, plan](char *shared) {
                      moe::visitRowType(plan.call.dtype, [&](auto type) {
                        moe::Combiner<decltype(type)>(group, plan, shared).run();
                      });
                    }};
}

Result<simt::Grid> emulatedLowLatencyDispatch(const PeerGroup &group,
                                              const LowLatencyDispatchArgs &args) {
  COLL_RETURN_IF_ERROR(checkLowLatencyDispatch(group, args));
  const low_latency::Dispatch plan = low_latency::planDispatch(group, smallCall(args));
  const LowLatencyCall &call = plan.args.call;
  return simt::Grid{
      {call.grid.blocks, call.grid.threads, low_latency::dispatchSharedBytes(call.shape)},
      [group, plan](char *shared) { low_latency::Dispatcher(group, plan, shared).run(); }};
}

Result<simt::Grid> emulatedLowLatencyCombine(const PeerGroup &group,
                                             const LowLatencyCombineArgs &args) {
  COLL_RETURN_IF_ERROR(checkLowLatencyCombine(group, args));
  const low_latency::Combine plan = low_latency::planCombine(group, smallCall(args));
  const MoeGrid &grid = plan.args.call.grid;
  return simt::Grid{
      {grid.blocks, grid.threads, low_latency::combineSharedBytes()},
      [group, plan](char *shared) { low_latency::Combiner(group, plan, shared).run(); }};
}

Result<simt::Grid> emulatedMoeGather(const MoeGatherArgs &args) {
  COLL_RETURN_IF_ERROR(checkMoeGather(args));
  const MoeRun run = moeRun(args.record, args.count);
  return simt::Grid{{2, moe::kWarp, 16}, [args, run](char *) { moe::Gatherer(args, run).run(); }};
}

Result<simt::Grid> emulatedMoeMerge(const MoeMergeArgs &args) {
  COLL_RETURN_IF_ERROR(checkMoeMerge(args));
  return simt::Grid{{2, moe::kWarp, 16}, [args](char *) { moe::Merger(args).run(); }};
}

} // namespace coll::kernels
