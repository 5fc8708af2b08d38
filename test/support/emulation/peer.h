// peer.h - the kernels of a peer group on the host, for tests.
//
// Workspaces and buffers are host memory; the grids of all members run concurrently, as fibers of
// the calling thread (simt_host.h).

#ifndef COLL_TEST_SUPPORT_EMULATION_PEER_H
#define COLL_TEST_SUPPORT_EMULATION_PEER_H

#include "runtime/kernels/peer/plan.h"
#include "test/support/emulation/simt_host.h"

namespace coll::kernels {

// Like initPeerWorkspace.
void emulateWorkspaceInit(const PeerGroup &group);

// The grid of a plan, for simt::runBeside; `group` must outlive the run. Not for the plan Nothing.
simt::Grid emulatedGrid(const PeerGroup &group, const PeerPlan &plan);

} // namespace coll::kernels

#endif // COLL_TEST_SUPPORT_EMULATION_PEER_H
