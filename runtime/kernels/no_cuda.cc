// The launchers in a build without the CUDA toolkit: they refuse.

#include "runtime/kernels/pages/pack.h"
#include "runtime/kernels/pages/unpack.h"
#include "runtime/kernels/peer/group.h"

namespace coll::kernels {
namespace {

rt::Status noCuda() {
  return {kCollUnsupported, "this build has no CUDA kernels (see COLL_ENABLE_CUDA)"};
}

} // namespace

rt::Status launchUnpack(const PageCopy &, void *) { return noCuda(); }
rt::Status launchUnpackNext(const MessageCopy<rt::UnpackHandle> &, void *) { return noCuda(); }
rt::Status launchUnpackGroup(const UnpackGroupCopy &, void *) { return noCuda(); }
rt::Status launchPack(const PageCopy &, void *) { return noCuda(); }
rt::Status initPeerWorkspace(const PeerGroup &, void *) { return noCuda(); }
rt::Status launchPackNext(const MessageCopy<rt::PackHandle> &, void *) { return noCuda(); }

} // namespace coll::kernels
