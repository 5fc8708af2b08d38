// The launchers of peer groups in a build without the CUDA toolkit: they refuse.

#include "runtime/kernels/peer/launch.h"

namespace coll::kernels {
namespace {

rt::Status noCuda() {
  return {kCollUnsupported, "this build has no CUDA kernels (see COLL_ENABLE_CUDA)"};
}

} // namespace

rt::Status launchPeerPlan(const char *name, const PeerGroup &, const rt::Result<PeerPlan> &plan,
                          void *) {
  if (!plan)
    return plan.status().annotate(name);
  return plan->kind == PeerPlan::Kind::Nothing ? rt::Status::okay() : noCuda();
}

} // namespace coll::kernels
