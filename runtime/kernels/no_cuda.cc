// The launchers of a build without the CUDA toolkit: they reject every call.

#include "runtime/kernels/attention/attention.h"
#include "runtime/kernels/available.h"
#include "runtime/kernels/channel/channel.h"
#include "runtime/kernels/convolution/convolution.h"
#include "runtime/kernels/epilogue/epilogue.h"
#include "runtime/kernels/moe/low_latency.h"
#include "runtime/kernels/moe/moe.h"
#include "runtime/kernels/moe/relay.h"
#include "runtime/kernels/pages/pack.h"
#include "runtime/kernels/pages/unpack.h"
#include "runtime/kernels/peer/group.h"
#include "runtime/kernels/peer/launch.h"
#include "runtime/kernels/reshard/copy.h"
#include "runtime/kernels/root_update/root_update.h"
#include "runtime/kernels/tokens/tokens.h"

namespace coll::kernels {
namespace {

rt::Status noCuda() {
  return {kCollUnsupported,
          "this build has no GPU kernels: build it with the CUDA toolkit (preset cuda)"};
}

} // namespace

rt::Status kernelsAvailable() { return noCuda(); }

// --- pages, and workspaces of peers

rt::Status launchUnpack(const PageCopy &, void *) { return noCuda(); }
rt::Status launchUnpackNext(const MessageCopy<rt::UnpackHandle> &, void *) { return noCuda(); }
rt::Status launchUnpackGroup(const UnpackGroupCopy &, void *) { return noCuda(); }
rt::Status launchPack(const PageCopy &, void *) { return noCuda(); }
rt::Status initPeerWorkspace(const PeerGroup &, void *) { return noCuda(); }
rt::Status launchPackNext(const MessageCopy<rt::PackHandle> &, void *) { return noCuda(); }

// --- attention

rt::Status launchAttention(const Attention &, const AttentionBuffers &, void *) { return noCuda(); }
rt::Status launchAttentionBackward(const Attention &, const AttentionBuffers &, void *) {
  return noCuda();
}

// --- channel

rt::Status loadChannel() { return noCuda(); }

rt::Status launchChannel(const rt::ChannelLaunch &launch, void *) {
  COLL_RETURN_IF_ERROR(checkChannel(launch));
  return noCuda();
}

// --- convolution

rt::Status launchConvolution(const Convolution &, const ConvolutionBuffers &, void *) {
  return noCuda();
}

// --- epilogue

rt::Status launchEpilogue(const Epilogue &, void *) { return noCuda(); }

// --- moe

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

// --- peer

rt::Status launchPeerPlan(const char *name, const PeerGroup &, const rt::Result<PeerPlan> &plan,
                          void *) {
  if (!plan)
    return plan.status().annotate(name);
  return plan->kind == PeerPlan::Kind::Nothing ? rt::Status::okay() : noCuda();
}

// --- reshard

rt::Status launchReshardCopy(const ReshardCopy &, void *) { return noCuda(); }
rt::Status loadReshardCopy() { return noCuda(); }

// --- root_update

rt::Status launchRootUpdate(const PeerGroup &, const RootUpdate &, const AnyOptimizer &, void *) {
  return noCuda();
}
rt::Status launchSetStep(UpdateStep *, const UpdateStep &, void *) { return noCuda(); }
rt::Status launchNextStep(UpdateStep *, void *) { return noCuda(); }

// --- tokens

rt::Status launchWidenExperts(const WidenExperts &, void *) { return noCuda(); }
rt::Status launchUnpackTokens(const UnpackTokens &, void *) { return noCuda(); }
rt::Status launchReadRoute(const TokenRoute &, void *) { return noCuda(); }
rt::Status launchCheckRoute(const TokenRoute &, void *) { return noCuda(); }
rt::Status rehearseTokenKernels(void *) { return noCuda(); }

} // namespace coll::kernels
