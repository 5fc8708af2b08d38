// emulated_peers.h - backend direct over a fake driver: its kernels' device code on host threads.

#ifndef COLL_TEST_CONFORMANCE_EMULATED_PEERS_H
#define COLL_TEST_CONFORMANCE_EMULATED_PEERS_H

#include "runtime/backend/direct/platform.h"

#include <functional>

namespace coll::rt::test {

// `cuda` is the FakeCuda of this process. Small workspaces and grids; each kernel runs as fibers
// of a thread of its own, beside those of its peers, in other processes too.
direct::Platform emulatedPeers(const dl::Cuda &cuda);

// A kernel on a stream of the FakeCuda: the stream goes on when `work` has ended on a thread of
// its own.
Status onStream(void *stream, std::function<void()> work);

} // namespace coll::rt::test

#endif // COLL_TEST_CONFORMANCE_EMULATED_PEERS_H
