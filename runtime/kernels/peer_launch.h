// peer_launch.h - starts the kernel of a plan. Within runtime/kernels.

#ifndef COLL_RUNTIME_KERNELS_PEER_LAUNCH_H
#define COLL_RUNTIME_KERNELS_PEER_LAUNCH_H

#include "runtime/kernels/peer_plan.h"

namespace coll::kernels {

// As the launchers of collectives.h; `name` is for messages.
rt::Status launchPeerPlan(const char *name, const PeerGroup &group,
                          const rt::Result<PeerPlan> &plan, void *stream);

// Loads all kernels that groups of this size may launch: a kernel that is loaded later waits for
// those that run, and these may wait for it.
rt::Status loadPeerKernels(uint32_t size);

// The kernels of slices: addresses of functions (PeerGroup, PeerPlan), by .cu file.
const void *packetSlicesKernel(const PeerPlan &plan, uint32_t size);
const void *ringSlicesKernel(const PeerPlan &plan, uint32_t size);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_LAUNCH_H
