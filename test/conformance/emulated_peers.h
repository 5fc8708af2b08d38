// emulated_peers.h - kernels of backend direct, played by host threads over a fake driver.

#ifndef COLL_TEST_CONFORMANCE_EMULATED_PEERS_H
#define COLL_TEST_CONFORMANCE_EMULATED_PEERS_H

#include "runtime/backend/direct/platform.h"

namespace coll::rt::test {

// They work on streams of the FakeCuda of this process, across processes too.
direct::PeerKernels emulatedPeers();

} // namespace coll::rt::test

#endif // COLL_TEST_CONFORMANCE_EMULATED_PEERS_H
