// nodes.h - executes a plan on GPU memory of ranks that are on several nodes.
//
//   auto network = ReshardNetwork::create(gpu, rank, options).take();   // once, for all reshards
//   …network->handle() of all ranks reaches all ranks…
//   network->connect(handles);
//   NodesReshard::create(plan, buffers, *network)                       // once
//   run(stream)                                                         // all ranks of the plan
//
// Pairs inside a node use peer memory (gpu.h). Between nodes the sender packs the boxes of a pair
// end to end into pinned memory, chunk by chunk, and sends them; the receiver unpacks them from
// pinned memory. Copy engines move long rows, the kernel moves the others.
//
// All ranks of a plan call run() of the same reshards in the same order. The first run() of a
// reshard compares the plan and its direction with those of all ranks of the plan, before a byte
// moves: kCollMismatch names both ranks. The host drives the network: run() returns when the data
// that this rank sends to other nodes has left its buffers, and the data from other nodes is in
// place. Copies inside the node are put on `stream`, by the rules of reshard.h: the caller ensures
// that peers are ready, and knows when all have run. run() allocates no GPU memory, but a little
// host memory for each rank of another node, and cannot be captured.
//
// All ranks are connected to all others, so each one notices by itself when a rank dies. An error
// names the rank, and ends the network for all ranks.
//
// Threads: one at a time for a network and its reshards. Copies to and from pinned memory wait
// while another thread loads a kernel (dl/cuda.h).

#ifndef COLL_RUNTIME_EXCHANGE_RESHARD_NODES_H
#define COLL_RUNTIME_EXCHANGE_RESHARD_NODES_H

#include "runtime/exchange/flow/chunk_network.h"
#include "runtime/exchange/reshard/gpu.h"

#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace coll::rt::exchange {

struct ReshardNetworkOptions {
  net::Transport *transport = nullptr; // outlives the network
  std::vector<int> nodes;              // the node of each rank
  // Pinned memory: 6 chunks for each rank of another node. A multiple of 256.
  int64_t chunkBytes = 2 << 20;
  int64_t timeoutUs = 60'000'000; // without any progress
};

// A rank's connections to all others, and the pinned memory for data that they move.
class ReshardNetwork {
public:
  static Result<std::unique_ptr<ReshardNetwork>>
  create(std::shared_ptr<dl::GpuContext> gpu, int rank, const ReshardNetworkOptions &options);

  const net::Handle &handle() const { return chunks_->handle(); }
  // Blocks until all ranks are connected; handles[r] is rank r's handle.
  Status connect(const std::vector<net::Handle> &handles) { return chunks_->connect(handles); }
  // Bytes sent over connections so far: to ranks of other nodes and, once for each reshard, 8 bytes
  // to every other rank of its plan.
  int64_t bytesSent() const { return chunks_->pump().bytesSent(); }

private:
  friend class NodesReshard;

  ReshardNetwork(std::shared_ptr<dl::GpuContext> gpu, int rank,
                 const ReshardNetworkOptions &options)
      : gpu_(std::move(gpu)), rank_(rank), options_(options) {}
  Status open();
  bool isNear(int rank) const {
    return options_.nodes[static_cast<size_t>(rank)] == options_.nodes[static_cast<size_t>(rank_)];
  }
  // The network's work begins after the work that is now on `stream`.
  Status follow(dl::CudaStream stream);
  Status run(const std::vector<RankFlow> &flows);
  // Reports to all ranks why the network has ended.
  Status end(const Status &cause);

  const std::shared_ptr<dl::GpuContext> gpu_;
  const int rank_;
  const ReshardNetworkOptions options_;
  std::unique_ptr<ChunkNetwork> chunks_;
  std::vector<std::array<uint64_t, 2>> flows_; // so far, by rank, in and out; equal at both ends
};

class NodesReshard {
public:
  static Result<std::unique_ptr<NodesReshard>>
  create(const ReshardPlan &plan, const ReshardBuffers &buffers, ReshardNetwork &network,
         const GpuReshardOptions &options = {},
         GpuReshard::Launch launch = kernels::launchReshardCopy);

  // kCollInvalidCall if the network is not connected.
  Status run(dl::CudaStream stream);
  // Gather: copies from scratch to target, once every rank's run() is done. Otherwise does nothing.
  Status slice(dl::CudaStream stream) { return near_->slice(stream); }

private:
  static constexpr int kBlocks = 16; // of a chunk's kernel: enough for a network
  // The work that moves one chunk between a buffer and a slot.
  struct Chunk {
    int64_t bytes = 0;
    std::vector<kernels::ReshardPiece> copies; // by engines
    uint64_t first = 0;                        // entry of the table
    kernels::ReshardCounts counts;
  };

  // The work of this rank with ranks of its node, and with others: boxes by rank, in or out.
  struct Parts {
    ReshardPlan near;
    std::map<std::pair<int, bool>, std::vector<StridedBox>> far;
  };

  NodesReshard(const ReshardPlan &plan, ReshardDirection direction, ReshardNetwork &network,
               const GpuReshardOptions &options, GpuReshard::Launch launch);
  static Status check(const ReshardPlan &plan, const ReshardNetwork &network);
  static Parts split(const ReshardPlan &plan, const ReshardNetwork &network);
  Status addFlow(const std::vector<StridedBox> &boxes, char *buffer, int rank, bool isSend,
                 std::vector<kernels::ReshardEntry> &entries);
  Status addChunk(const std::vector<kernels::ReshardPiece> &pieces, std::vector<Chunk> &chunks,
                  std::vector<kernels::ReshardEntry> &entries) const;
  Status move(const Chunk &chunk, dl::CudaStream stream) const;
  // Compares the plans of all ranks.
  Status compare();

  ReshardNetwork &network_;
  const GpuReshardOptions options_;
  const GpuReshard::Launch launch_;
  std::unique_ptr<GpuReshard> near_;
  dl::GpuMemory table_;
  std::vector<RankFlow> flows_;
  const uint64_t fingerprint_;
  std::set<int> others_; // of the plan
  bool isCompared_ = false;
};

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_RESHARD_NODES_H
