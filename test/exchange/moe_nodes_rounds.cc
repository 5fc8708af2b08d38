#include "test/exchange/moe_nodes_rounds.h"

#include "runtime/net/loopback/loopback.h"
#include "runtime/net/tcp/tcp.h"
#include "test/exchange/moe_low_latency_rounds.h"
#include "test/exchange/moe_rounds.h"

#include <climits>

namespace coll::rt::test {

thread_local int recordsUntilFailure = INT_MAX;

MoePlatform failingMoe(const dl::FakeCuda &fake) {
  static dl::Cuda table;
  static decltype(table.eventRecord) record;
  table = fake.table();
  record = table.eventRecord;
  table.eventRecord = [](dl::CudaEvent event, dl::CudaStream stream) {
    return recordsUntilFailure-- > 0 ? record(event, stream) : dl::kCudaInvalidContext;
  };
  return emulatedMoe(table);
}

std::unique_ptr<net::Transport> moeNodesTransport(const std::string &name) {
  net::TcpOptions tcp;
  tcp.iface = "lo";
  tcp.dataStreams = 1;
  tcp.threads = 2;
  auto made =
      name == "tcp" ? net::createTcpTransport(tcp, std::nullopt) : net::createLoopbackTransport();
  EXPECT_TRUE(made.ok()) << made.status().toString();
  return made.take();
}

MoeBufferOptions moeNodesOptions(net::Transport &transport, int rank, int numRanks, int nodeSize,
                                 int64_t timeoutUs) {
  MoeBufferOptions options;
  options.rank = rank;
  options.numRanks = numRanks;
  options.nodeSize = nodeSize;
  options.nvlBytes = options.netBytes = kMoeNodesBytes;
  options.device = rank;
  options.timeoutUs = timeoutUs;
  options.transport = &transport;
  options.netChunkBytes = 4096;
  return options;
}

MoeBufferOptions moeLowLatencyNodesOptions(net::Transport &transport, int rank, int numRanks,
                                           int nodeSize, int64_t timeoutUs) {
  MoeBufferOptions options = moeNodesOptions(transport, rank, numRanks, nodeSize, timeoutUs);
  options.nvlBytes = options.netBytes = 0;
  options.lowLatency = true;
  options.lowLatencyShape = lowLatencyShape(numRanks);
  return options;
}

void playMoeRounds(dl::FakeCuda &fake, net::Transport &transport, int numRanks, int nodeSize,
                   int rounds, int64_t timeoutUs) {
  playMoeRounds(
      fake, [&](int r) { return moeNodesOptions(transport, r, numRanks, nodeSize, timeoutUs); },
      numRanks, nodeSize, rounds);
}

} // namespace coll::rt::test
