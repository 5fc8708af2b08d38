// init_device.cuh - initialises a workspace.

#ifndef COLL_RUNTIME_KERNELS_PEER_INIT_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PEER_INIT_DEVICE_CUH

#include "runtime/kernels/peer/packet_device.cuh"

namespace coll::kernels::peer {

COLL_DEVICE void fill(char *from, const char *to, const Vec16 &value) {
  const uint64_t stride = uint64_t{simt::gridBlocks()} * simt::blockThreads() * kVec;
  const uint64_t first =
      (uint64_t{simt::blockIndex()} * simt::blockThreads() + simt::threadIndex()) * kVec;
  for (char *at = from + first; at < to; at += stride)
    simt::storeGlobal16(at, value);
}

// The kernel. Rings need no initialisation: their counts are in the state.
COLL_DEVICE void initWorkspace(const PeerGroup &group) {
  char *own = group.workspace[group.rank];
  const WorkspaceLayout &layout = group.layout;
  fill(own + layout.state, own + layout.packets, Vec16{});
  fill(own + layout.packets, own + layout.escapes, reserved(kEmptyWord3));
  fill(own + layout.escapes, own + layout.rings, Vec16{});
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_INIT_DEVICE_CUH
