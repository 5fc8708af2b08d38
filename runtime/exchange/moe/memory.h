// memory.h - a rank's memory for a MoeBuffer: GPU memory that its peers map, and the memory of its
// peers. Used by the buffer's thread; does not wait for peers.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_MEMORY_H
#define COLL_RUNTIME_EXCHANGE_MOE_MEMORY_H

#include "runtime/exchange/moe/low_latency.h"
#include "runtime/gpu/memory.h"
#include "runtime/net/transport.h"

#include <memory>
#include <vector>

namespace coll::rt {

// A rank's description of its memory for other ranks. Plain bytes, the same in all processes of a
// node.
struct MoeCard {
  static constexpr uint32_t kMagic = 0x4d6f4504; // format 4

  uint32_t magic = kMagic;
  int32_t rank = 0;
  int32_t numRanks = 0;
  int32_t device = 0;  // the GPU's number in its process
  int32_t process = 0; // id of the process within its pid namespace
  int32_t nodeSize = 0;
  int32_t lowLatency = 0; // whether it has that mode, with this shape
  int32_t unused = 0;
  uint64_t processes = 0; // that namespace, because containers may have the same ids
  char boot[40] = {};     // boot id of the kernel: the same on one node only
  int64_t nvlBytes = 0;
  int64_t netBytes = 0;
  int64_t netChunkBytes = 0;
  MoeLowLatencyShape lowLatencyShape;
  gpu::Export memory;
  net::Handle net; // with several nodes
};

bool areOfOneProcess(const MoeCard &a, const MoeCard &b);

// The destructor frees the memory: peers have to close their windows on it before.
class MoeMemory {
public:
  // Fills in the fields of `card` that describe it.
  static Result<std::unique_ptr<MoeMemory>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                   int64_t bytes, MoeCard &card);

  char *data() const { return block_.data(); }
  // Addresses of this GPU for the memory of the ranks of this node; its own is data().
  // kCollInvalidCall, with the rank: an invalid card, or one that does not belong here.
  // kCollMismatch, with both ranks and both values: a card of a buffer with another size.
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
