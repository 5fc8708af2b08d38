// The launcher of a build without the CUDA toolkit: it refuses.

#include "runtime/kernels/reshard/copy.h"

namespace coll::kernels {
namespace {

rt::Status noCuda() {
  return {kCollUnsupported, "this build has no CUDA kernels (see COLL_ENABLE_CUDA)"};
}

} // namespace

rt::Status launchReshardCopy(const ReshardCopy &, void *) { return noCuda(); }
rt::Status loadReshardCopy() { return noCuda(); }

} // namespace coll::kernels
