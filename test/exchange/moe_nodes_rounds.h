// moe_nodes_rounds.h - code that the tests of a MoeBuffer on several nodes share.

#ifndef COLL_TEST_EXCHANGE_MOE_NODES_ROUNDS_H
#define COLL_TEST_EXCHANGE_MOE_NODES_ROUNDS_H

#include "runtime/net/transport.h"
#include "test/exchange/moe_rig.h"

#include <memory>
#include <string>

namespace coll::rt::test {

inline constexpr int64_t kMoeNodesBytes = 1 << 20; // nvlBytes and netBytes

// "loopback", or "tcp" on this machine. It connects the nodes.
std::unique_ptr<net::Transport> moeNodesTransport(const std::string &name);

// Rank r uses GPU r. Chunks are small, so that there are several.
MoeBufferOptions moeNodesOptions(net::Transport &transport, int rank, int numRanks, int nodeSize,
                                 int64_t timeoutUs = 20'000'000);

// The same for the low-latency mode only, with lowLatencyShape().
MoeBufferOptions moeLowLatencyNodesOptions(net::Transport &transport, int rank, int numRanks,
                                           int nodeSize, int64_t timeoutUs = 20'000'000);

// emulatedMoe() with a driver that fails on the threads that ask for it. One at a time.
MoePlatform failingMoe(const dl::FakeCuda &fake);
// For this thread: the number of events that are recorded before cuEventRecord fails.
extern thread_local int recordsUntilFailure;

// The rounds of moe_rounds.h.
void playMoeRounds(dl::FakeCuda &fake, net::Transport &transport, int numRanks, int nodeSize,
                   int rounds, int64_t timeoutUs = 20'000'000);

} // namespace coll::rt::test

#endif // COLL_TEST_EXCHANGE_MOE_NODES_ROUNDS_H
