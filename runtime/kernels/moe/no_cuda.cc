// The token exchange in a build without the CUDA toolkit: its launchers refuse.

#include "runtime/kernels/moe/low_latency.h"
#include "runtime/kernels/moe/moe.h"
#include "runtime/kernels/moe/relay.h"

namespace coll::kernels {
namespace {

rt::Status noCuda() {
  return {kCollUnsupported, "this build has no CUDA kernels (see COLL_ENABLE_CUDA)"};
}

} // namespace

rt::Status launchMoeLayout(const MoeLayoutArgs &, void *) { return noCuda(); }
rt::Status launchMoeNotify(const PeerGroup &, const MoeNotifyArgs &, void *) { return noCuda(); }
rt::Status launchMoeDispatch(const PeerGroup &, const MoeDispatchArgs &, void *) {
  return noCuda();
}
rt::Status launchMoeCombine(const PeerGroup &, const MoeCombineArgs &, void *) { return noCuda(); }
rt::Status rehearseMoeKernels(const PeerGroup &, void *) { return noCuda(); }
rt::Status launchLowLatencyDispatch(const PeerGroup &, const LowLatencyDispatchArgs &, void *) {
  return noCuda();
}
rt::Status launchLowLatencyCombine(const PeerGroup &, const LowLatencyCombineArgs &, void *) {
  return noCuda();
}
rt::Status rehearseLowLatencyKernels(const PeerGroup &, void *) { return noCuda(); }
rt::Status launchMoeGather(const MoeGatherArgs &, void *) { return noCuda(); }
rt::Status launchMoeMerge(const MoeMergeArgs &, void *) { return noCuda(); }
rt::Status rehearseMoeRelay(void *) { return noCuda(); }

} // namespace coll::kernels
