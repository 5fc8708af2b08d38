// memory.h - a rank's share of a MoeBuffer: GPU memory that its peers map, and theirs. On the
// buffer's thread; does not wait for peers.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_MEMORY_H
#define COLL_RUNTIME_EXCHANGE_MOE_MEMORY_H

#include "runtime/exchange/moe/low_latency.h"
#include "runtime/gpu/memory.h"
#include "runtime/net/transport.h"

#include <memory>
#include <vector>

namespace coll::rt {

// What a rank tells the others of its memory. Plain bytes, the same in all processes of a node.
struct MoeCard {
  static constexpr uint32_t kMagic = 0x4d6f4504; // format 4

  uint32_t magic = kMagic;
  int32_t rank = 0;
  int32_t numRanks = 0;
  int32_t device = 0;  // as its process numbers GPUs
  int32_t process = 0; // id, among those of one pid namespace
  int32_t nodeSize = 0;
  int32_t lowLatency = 0; // whether it has that mode, with this shape
  int32_t unused = 0;
  uint64_t processes = 0; // that namespace: containers have the same ids
  char boot[40] = {};     // id of the kernel that runs: the same on one node only
  int64_t nvlBytes = 0;
  int64_t netBytes = 0;
  int64_t netChunkBytes = 0;
  MoeLowLatencyShape lowLatencyShape;
  gpu::Export memory;
  net::Handle net; // where there are several nodes
};

bool areOfOneProcess(const MoeCard &a, const MoeCard &b);

// Freed with the object: peers have to have closed their windows on it.
class MoeMemory {
public:
  // Fills in what `card` says of it.
  static Result<std::unique_ptr<MoeMemory>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                   int64_t bytes, MoeCard &card);

  char *data() const { return block_.data(); }
  // The memory of the ranks of this rank's node as addresses of this GPU; its own is data().
  // kCollInvalidCall: a card that is none, or does not belong here; it names the rank.
  // kCollMismatch: of a buffer with another size; it names both ranks and both values.
  Result<std::vector<char *>> open(const MoeCard &own, const std::vector<MoeCard> &cards);

private:
  explicit MoeMemory(std::shared_ptr<dl::GpuContext> gpu) : gpu_(std::move(gpu)) {}
  Result<char *> openOne(const MoeCard &own, const MoeCard &card);

  std::shared_ptr<dl::GpuContext> gpu_;
  gpu::Block block_;
  std::vector<gpu::Window> windows_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_MEMORY_H
