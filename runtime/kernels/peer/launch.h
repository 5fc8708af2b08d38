// launch.h - starts the kernel of a plan. Internal to runtime/kernels.

#ifndef COLL_RUNTIME_KERNELS_PEER_LAUNCH_H
#define COLL_RUNTIME_KERNELS_PEER_LAUNCH_H

#include "runtime/kernels/peer/plan.h"

namespace coll::kernels {

// See the launchers of collectives.h; `name` is for messages.
rt::Status launchPeerPlan(const char *name, const PeerGroup &group,
                          const rt::Result<PeerPlan> &plan, void *stream);

// Launches all kernels that a group of this size may launch, without effect. A kernel's first
// launch may wait until the GPU is idle, because its code is loaded and local memory grows. Later
// the GPU would never be idle, because kernels of other members wait for this one.
rt::Status rehearsePeerKernels(const PeerGroup &group, void *stream);

// The kernels of slices: addresses of functions (PeerGroup, PeerPlan), by .cu file.
const void *packetSlicesKernel(const PeerPlan &plan, uint32_t size);
const void *ringSlicesKernel(const PeerPlan &plan, uint32_t size);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_LAUNCH_H
