// node.h - one rank among the ranks of its node: the messages that they exchange at the start, the
// pool of its memory, and the memory of its peers.
//
// Start: each rank makes its card; all ranks receive all cards; agree() decides, the same on every
// rank, how memory is shared, or why it cannot be; connect() connects the processes; then memory is
// allocated and opened as it is needed. Belongs to the rank's thread.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_NODE_H
#define COLL_RUNTIME_BACKEND_DIRECT_NODE_H

#include "runtime/backend/demand.h"
#include "runtime/backend/direct/alarm.h"
#include "runtime/backend/direct/links.h"
#include "runtime/backend/direct/pool.h"
#include "runtime/gpu/memory.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coll::rt::direct {

using gpu::Block;
using gpu::Export;
using gpu::GpuContext;
using gpu::Sharing;
using gpu::Window;

// Plain bytes.
struct NodeCard {
  char host[64] = {};  // for messages
  char boot[40] = {};  // boot id of the kernel: the same on one node only
  char gpu[24] = {};   // "0000:1b:00.0"
  char net[32] = {};   // name space of the socket
  char links[32] = {}; // name of the socket; empty in one process
  int32_t process = 0;
  int32_t hasVmm = 0;
  int32_t wanted = -1; // a Sharing, or -1: any
  Demand demand = Demand::None;
  int32_t code = 0; // why this rank cannot take part
  char why[160] = {};
};

// The place of a slice in a rank's pool, sent to its peers.
struct SliceId {
  Export chunk;
  int64_t offset = 0;
};

// State that the ranks of a process share.
struct Shared {
  Alarm alarm;
  std::mutex mutex;
  std::vector<Block> kept; // blocks of ranks that have ended, while other ranks run
};

class Node {
public:
  // `inProcess`: all ranks are in this process.
  static Result<std::unique_ptr<Node>> open(int rank, int size, std::shared_ptr<GpuContext> gpu,
                                            bool inProcess, Demand demand,
                                            std::shared_ptr<Shared> shared);
  // When it returns, peers do not use this rank's memory any more, or have failed.
  ~Node();
  Node(const Node &) = delete;
  Node &operator=(const Node &) = delete;

  const NodeCard &card() const { return card_; }
  // Ok, or kCollUnsupported with the reason: the same on all ranks.
  Status agree(const std::vector<NodeCard> &cards);
  // After agree(), between processes.
  Status connect(const std::vector<NodeCard> &cards, const std::string &secret, int64_t timeoutUs);

  int size() const { return size_; } // of the job
  Sharing sharing() const { return sharing_; }
  // The most ranks that share one GPU; the same on all ranks.
  int sharers() const { return sharers_; }
  Links *links() { return links_.get(); }
  const std::shared_ptr<GpuContext> &gpu() const { return gpu_; }
  Alarm &alarm() { return shared_->alarm; }

  struct Slice {
    Pool::Slice place;
    char *data = nullptr;
    SliceId id;
  };
  Result<Slice> takeSlice(int64_t bytes);
  void giveSlice(const Slice &slice) { pool_.give(slice.place); }
  Pool::Account account() const { return pool_.account(); }
  // A peer's slice of `bytes` bytes, as an address of this GPU.
  Result<char *> reach(int peer, const SliceId &slice, int64_t bytes);

  // Memory that peers may reach: a slice, a block of its own, or the user's.
  struct Memory {
    int64_t bytes = 0; // as requested
    std::optional<Slice> slice;
    Block block;
    bool isUsers = false;
    std::vector<Window> windows; // on the peers' blocks that belong to it
    char *data() const { return slice ? slice->data : block.data(); }
    SliceId id() const { return slice ? slice->id : SliceId{block.exported(), 0}; }
  };
  // A slice if it is small; else a block, whose descriptor the peers get.
  Result<Memory> takeMemory(int64_t bytes, const std::vector<int> &peers);
  // The memory is not used any more, though peers may still have windows on it.
  void giveMemory(Memory memory);
  // Instead of giveMemory(), if this GPU may still use the memory: keeps it until the end.
  void retire(Memory memory) { retired_.push_back(std::move(memory)); }
  // Opens a peer's block.
  Result<Window> open(int peer, const Export &exported);
  // Instead of open(): takes the descriptor and closes it, because it would keep the memory alive.
  void decline(int peer, const Export &exported);

private:
  Node(int rank, int size, std::shared_ptr<GpuContext> gpu, std::shared_ptr<Shared> shared)
      : rank_(rank), size_(size), gpu_(std::move(gpu)), shared_(std::move(shared)) {}
  Status agreeUnasked(const std::vector<NodeCard> &cards) const;
  Status reachGpus(const std::vector<NodeCard> &cards) const;
  int ordinalOf(const NodeCard &card) const;
  Result<Block> make(int64_t bytes) { return Block::create(gpu_, sharing_, bytes, nextId_++); }
  Status share(const Block &block, const std::vector<int> &peers);
  Status addChunk(int64_t bytes);
  Result<net::Fd> descriptorOf(int peer, const Export &exported);
  Result<Window> map(int peer, const Export &exported, const net::Fd &descriptor);

  const int rank_, size_;
  std::shared_ptr<GpuContext> gpu_;
  std::shared_ptr<Shared> shared_;
  NodeCard card_;
  Sharing sharing_ = Sharing::Process;
  int sharers_ = 1;
  int64_t timeoutUs_ = 0;
  std::unique_ptr<Links> links_;
  Pool pool_;
  uint64_t nextId_ = 0;
  // Blocks of the pool. They are reused, because with CUDA IPC a block has to outlive the peers'
  // windows, and with peer access their calls.
  std::vector<Block> chunks_, spare_;
  std::vector<Memory> retired_;
  // A peer's chunk. The descriptor arrives once, and is kept until it is mapped.
  struct PeerChunk {
    Window window;
    net::Fd descriptor;
    int64_t bytes = 0;
  };
  std::map<std::pair<int, uint64_t>, PeerChunk> peerChunks_; // by rank and id
};

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_NODE_H
