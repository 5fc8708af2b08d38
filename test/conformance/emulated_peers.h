// emulated_peers.h - backend direct over a fake driver, with its kernels' device code on host
// threads.

#ifndef COLL_TEST_CONFORMANCE_EMULATED_PEERS_H
#define COLL_TEST_CONFORMANCE_EMULATED_PEERS_H

#include "runtime/backend/direct/platform.h"

#include <functional>

namespace coll::rt::test {

// `cuda` is the FakeCuda of this process. Workspaces and grids are small; each kernel runs as
// fibers of one thread, concurrently with those of its peers, which may be in other processes.
direct::Platform emulatedPeers(const dl::Cuda &cuda);

// Puts a kernel on a stream of the FakeCuda: the stream continues when `work` has ended, which runs
// on a separate thread.
Status onStream(void *stream, std::function<void()> work);

} // namespace coll::rt::test

#endif // COLL_TEST_CONFORMANCE_EMULATED_PEERS_H
