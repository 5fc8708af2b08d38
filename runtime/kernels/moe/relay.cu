#include "runtime/kernels/moe/relay.h"

#include "runtime/kernels/launch.h"
#include "runtime/kernels/moe/relay_device.cuh"

namespace coll::kernels {

using rt::Status;

namespace {

__global__ void __launch_bounds__(kMoeRelayThreads)
    moeGather(const __grid_constant__ MoeGatherArgs args, const __grid_constant__ MoeRun run) {
  moe::Gatherer(args, run).run();
}

__global__ void __launch_bounds__(kMoeRelayThreads)
    moeMerge(const __grid_constant__ MoeMergeArgs args) {
  moe::Merger(args).run();
}

template <typename Kernel>
Status launch(const char *name, Kernel *kernel, uint32_t blocks, void **arguments, void *stream) {
  const auto address = reinterpret_cast<const void *>(kernel);
  COLL_RETURN_IF_ERROR(prepareKernel(address, 0).status());
  return launchKernel(name, address, static_cast<int>(blocks), kMoeRelayThreads, 0, arguments,
                      stream);
}

Status gather(MoeGatherArgs args, void *stream) {
  MoeRun run = moeRun(args.record, args.count);
  void *arguments[] = {&args, &run};
  return launch("moe gather", moeGather, args.blocks ? args.blocks : moeRelayBlocks(args.count),
                arguments, stream);
}

Status merge(MoeMergeArgs args, void *stream) {
  void *arguments[] = {&args};
  return launch("moe merge", moeMerge, args.blocks ? args.blocks : moeRelayBlocks(args.numTokens),
                arguments, stream);
}

} // namespace

Status launchMoeGather(const MoeGatherArgs &args, void *stream) {
  COLL_RETURN_IF_ERROR(checkMoeGather(args));
  return args.count == 0 ? Status::okay() : gather(args, stream);
}

Status launchMoeMerge(const MoeMergeArgs &args, void *stream) {
  COLL_RETURN_IF_ERROR(checkMoeMerge(args));
  return args.numTokens == 0 ? Status::okay() : merge(args, stream);
}

Status rehearseMoeRelay(void *stream) {
  COLL_RETURN_IF_ERROR(gather({}, stream));
  return merge({}, stream);
}

} // namespace coll::kernels
