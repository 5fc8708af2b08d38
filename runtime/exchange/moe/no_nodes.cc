// In a build without transports, all ranks of a MoeBuffer are on one node.

#include "runtime/exchange/moe/nodes.h"

namespace coll::rt {

Status MoeNodes::available() {
  return {kCollUnsupported, "this build has no transports, so ranks are of one node (it was "
                            "configured without OpenSSL, or with COLL_ENABLE_NET off)"};
}

Result<std::unique_ptr<MoeNodes>> MoeNodes::create(std::shared_ptr<dl::GpuContext>,
                                                   const MoeKernels &, const MoeNodesOptions &,
                                                   Watch) {
  return available();
}

} // namespace coll::rt
