#include "test/exchange/moe_emulated.h"

#include "test/conformance/emulated_peers.h"
#include "test/support/emulation/moe.h"
#include "test/support/emulation/peer.h"

namespace coll::rt::test {

namespace {

using kernels::PeerGroup;

Status launch(Result<kernels::simt::Grid> grid, void *stream) {
  if (!grid)
    return grid.status();
  return onStream(stream, [grid = grid.take()] { kernels::simt::runBeside({{grid}}, 0); });
}
template <typename Args>
Args small(Args args) {
  args.grid = {2, 32};
  return args;
}

} // namespace

MoePlatform emulatedMoe(const dl::Cuda &cuda) {
  MoePlatform platform;
  platform.cuda = &cuda;
  platform.kernels.init = [](const PeerGroup &group, void *stream) {
    return onStream(stream, [group] { kernels::emulateWorkspaceInit(group); });
  };
  platform.kernels.rehearse = [](const PeerGroup &, void *) { return Status(); };
  platform.kernels.layout = [](const kernels::MoeLayoutArgs &args, void *stream) {
    return launch(kernels::emulatedMoeLayout(args), stream);
  };
  platform.kernels.notify = [](const PeerGroup &group, const kernels::MoeNotifyArgs &args,
                               void *stream) {
    return launch(kernels::emulatedMoeNotify(group, args), stream);
  };
  platform.kernels.dispatch = [](const PeerGroup &group, const kernels::MoeDispatchArgs &args,
                                 void *stream) {
    return launch(kernels::emulatedMoeDispatch(group, small(args)), stream);
  };
  platform.kernels.combine = [](const PeerGroup &group, const kernels::MoeCombineArgs &args,
                                void *stream) {
    return launch(kernels::emulatedMoeCombine(group, small(args)), stream);
  };
  platform.kernels.rehearseRelay = [](void *) { return Status(); };
  platform.kernels.gather = [](const kernels::MoeGatherArgs &args, void *stream) {
    return launch(kernels::emulatedMoeGather(args), stream);
  };
  platform.kernels.merge = [](const kernels::MoeMergeArgs &args, void *stream) {
    return launch(kernels::emulatedMoeMerge(args), stream);
  };
  platform.kernels.rehearseLowLatency = [](const PeerGroup &, void *) { return Status(); };
  platform.kernels.lowLatencyDispatch =
      [](const PeerGroup &group, const kernels::LowLatencyDispatchArgs &given, void *stream) {
        kernels::LowLatencyDispatchArgs args = given;
        args.call = small(args.call);
        return launch(kernels::emulatedLowLatencyDispatch(group, args), stream);
      };
  platform.kernels.lowLatencyCombine =
      [](const PeerGroup &group, const kernels::LowLatencyCombineArgs &given, void *stream) {
        kernels::LowLatencyCombineArgs args = given;
        args.call = small(args.call);
        return launch(kernels::emulatedLowLatencyCombine(group, args), stream);
      };
  return platform;
}

} // namespace coll::rt::test
