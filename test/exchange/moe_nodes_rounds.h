// moe_nodes_rounds.h - whole rounds of a MoeBuffer, on one node and on several, against the
// reference.

#ifndef COLL_TEST_EXCHANGE_MOE_NODES_ROUNDS_H
#define COLL_TEST_EXCHANGE_MOE_NODES_ROUNDS_H

#include "runtime/net/transport.h"
#include "test/exchange/moe_rig.h"

#include <functional>
#include <memory>
#include <string>

namespace coll::rt::test {

inline constexpr int64_t kMoeNodesBytes = 1 << 20; // nvlBytes and netBytes

// "loopback", or "tcp" on this machine. It connects the nodes.
std::unique_ptr<net::Transport> moeNodesTransport(const std::string &name);

// Rank r is on GPU r; small chunks, so that there are several.
MoeBufferOptions moeNodesOptions(net::Transport &transport, int rank, int numRanks, int nodeSize,
                                 int64_t timeoutUs = 20'000'000);

// The same in the low-latency mode alone, with lowLatencyShape().
MoeBufferOptions moeLowLatencyNodesOptions(net::Transport &transport, int rank, int numRanks,
                                           int nodeSize, int64_t timeoutUs = 20'000'000);

// Random rounds, all ranks in this process: bf16, and fp8 with scales in either order; with and
// without top-k weights, biases, a worst case, events; along known routes; rows given back from
// anywhere. One node or several.
void playMoeRounds(dl::FakeCuda &fake, const std::function<MoeBufferOptions(int rank)> &optionsOf,
                   int numRanks, int nodeSize, int rounds);
void playMoeRounds(dl::FakeCuda &fake, net::Transport &transport, int numRanks, int nodeSize,
                   int rounds, int64_t timeoutUs = 20'000'000);

} // namespace coll::rt::test

#endif // COLL_TEST_EXCHANGE_MOE_NODES_ROUNDS_H
