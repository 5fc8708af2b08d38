#include "test/conformance/emulated_peers.h"

#include "test/support/emulation/peer.h"
#include "test/support/emulation/root_update.h"
#include "test/support/fakes/cuda.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

namespace coll::rt::test {

namespace {

using kernels::CopyArgs;
using kernels::PeerGroup;
using kernels::PeerPlan;
using kernels::ReduceArgs;

Status run(const PeerGroup &group, const Result<PeerPlan> &plan, void *stream) {
  if (!plan)
    return plan.status();
  if (plan->kind == PeerPlan::Kind::Nothing)
    return {};
  return onStream(stream, [group, plan = *plan] {
    kernels::simt::runBeside({{kernels::emulatedGrid(group, plan)}}, /*seed=*/0);
  });
}

Status init(const PeerGroup &group, void *stream) {
  return onStream(stream, [group] { kernels::emulateWorkspaceInit(group); });
}
Status allReduce(const PeerGroup &group, const ReduceArgs &args, void *stream) {
  return run(group, kernels::planAllReduce(group, args), stream);
}
Status reduceScatter(const PeerGroup &group, const ReduceArgs &args, void *stream) {
  return run(group, kernels::planReduceScatter(group, args), stream);
}
Status reduce(const PeerGroup &group, const ReduceArgs &args, void *stream) {
  return run(group, kernels::planReduce(group, args), stream);
}
Status allGather(const PeerGroup &group, const CopyArgs &args, void *stream) {
  return run(group, kernels::planAllGather(group, args), stream);
}
Status allToAll(const PeerGroup &group, const CopyArgs &args, void *stream) {
  return run(group, kernels::planAllToAll(group, args), stream);
}
Status broadcast(const PeerGroup &group, const CopyArgs &args, void *stream) {
  return run(group, kernels::planBroadcast(group, args), stream);
}
Status gather(const PeerGroup &group, const CopyArgs &args, void *stream) {
  return run(group, kernels::planGather(group, args), stream);
}
Status scatter(const PeerGroup &group, const CopyArgs &args, void *stream) {
  return run(group, kernels::planScatter(group, args), stream);
}
Status permute(const PeerGroup &group, const CopyArgs &args, const int32_t *pairs,
               uint32_t numPairs, void *stream) {
  return run(group, kernels::planPermute(group, args, pairs, numPairs), stream);
}
Status barrier(const PeerGroup &group, void *stream) {
  return run(group, kernels::planPeerBarrier(group), stream);
}
Status rootUpdate(const PeerGroup &group, const kernels::RootUpdate &update,
                  const kernels::AnyOptimizer &optimizer, void *stream) {
  Result<kernels::simt::Grid> grid = kernels::emulatedRootUpdate(group, update, optimizer);
  if (!grid)
    return grid.status();
  return onStream(stream, [grid = grid.take()] { kernels::simt::runBeside({{grid}}, /*seed=*/0); });
}
Status setStep(kernels::UpdateStep *step, const kernels::UpdateStep &value, void *stream) {
  return onStream(stream, [step, value] { *step = value; });
}

} // namespace

Status onStream(void *stream, std::function<void()> work) {
  auto begin = [work = std::move(work)]() -> dl::FakeCuda::Question {
    auto done = std::make_shared<std::atomic<bool>>(false);
    std::thread([work, done] {
      work();
      done->store(true);
    }).detach();
    return [done] { return done->load(); };
  };
  return dl::FakeCuda::enqueue(static_cast<dl::CudaStream>(stream), begin) == dl::kCudaSuccess
             ? Status()
             : Status(kCollDevice, "the fake driver takes no launch");
}

direct::Platform emulatedPeers(const dl::Cuda &cuda) {
  direct::Platform platform;
  platform.cuda = &cuda;
  platform.kernels = {init,   allReduce, reduceScatter, reduce,  allGather,  allToAll, broadcast,
                      gather, scatter,   permute,       barrier, rootUpdate, setStep};
  platform.sizes = {/*packetArea=*/64 << 10, /*ringBlocks=*/2, /*ringBytes=*/64 << 10,
                    /*slots=*/2};
  platform.tuning.threads = 32;
  platform.maxBlocks = 3;
  return platform;
}

} // namespace coll::rt::test
