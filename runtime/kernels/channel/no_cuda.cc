// The channel's launchers in a build without the CUDA toolkit: they refuse.

#include "runtime/kernels/channel/channel.h"

namespace coll::kernels {

namespace {

rt::Status noCuda() {
  return {kCollUnsupported, "this build has no CUDA kernels (see COLL_ENABLE_CUDA)"};
}

} // namespace

rt::Status loadChannel() { return noCuda(); }

rt::Status launchChannel(const rt::ChannelLaunch &launch, void *) {
  COLL_RETURN_IF_ERROR(checkChannel(launch));
  return noCuda();
}

} // namespace coll::kernels
