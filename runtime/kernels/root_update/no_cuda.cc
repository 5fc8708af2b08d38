// The root update in a build without the CUDA toolkit: its launchers refuse.

#include "runtime/kernels/root_update/root_update.h"

namespace coll::kernels {
namespace {

rt::Status noCuda() {
  return {kCollUnsupported, "this build has no CUDA kernels (see COLL_ENABLE_CUDA)"};
}

} // namespace

rt::Status launchRootUpdate(const PeerGroup &, const RootUpdate &, const AnyOptimizer &, void *) {
  return noCuda();
}
rt::Status launchSetStep(UpdateStep *, const UpdateStep &, void *) { return noCuda(); }
rt::Status launchNextStep(UpdateStep *, void *) { return noCuda(); }

} // namespace coll::kernels
