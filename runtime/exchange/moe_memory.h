// moe_memory.h - a rank's share of a MoeBuffer: GPU memory that its peers map, and theirs.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_MEMORY_H
#define COLL_RUNTIME_EXCHANGE_MOE_MEMORY_H

#include "runtime/dl/gpu_memory.h"

#include <memory>
#include <vector>

namespace coll::rt {

// What a rank tells the others of its memory. Plain bytes, the same in all processes of a node.
struct MoeCard {
  static constexpr uint32_t kMagic = 0x4d6f4501; // format 1

  uint32_t magic = kMagic;
  int32_t rank = 0;
  int32_t numRanks = 0;
  int32_t device = 0;  // as its process numbers GPUs
  int32_t process = 0; // id
  int32_t unused = 0;
  char boot[40] = {}; // id of the kernel that runs: the same on one node only
  char gpu[24] = {};  // "0000:1b:00.0"
  int64_t nvlBytes = 0;
  uint64_t bytes = 0;   // of the memory
  uint64_t address = 0; // in its process
  dl::CudaIpcHandle ipc;
};

// GPU memory that other processes may open, by CUDA IPC. Freed with the object: peers have to
// have closed theirs.
class MoeMemory {
public:
  static Result<std::unique_ptr<MoeMemory>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                   int64_t bytes, MoeCard &card);
  ~MoeMemory();
  MoeMemory(const MoeMemory &) = delete;
  MoeMemory &operator=(const MoeMemory &) = delete;

  char *data() const { return reinterpret_cast<char *>(address_); }
  // Every rank's memory as addresses of this GPU; [rank] is data(). kCollInvalidCall: a card
  // that is none, or does not fit; it names the rank.
  Result<std::vector<char *>> open(const MoeCard &own, const std::vector<MoeCard> &cards);

private:
  explicit MoeMemory(std::shared_ptr<dl::GpuContext> gpu) : gpu_(std::move(gpu)) {}
  Result<char *> openOne(const MoeCard &own, const MoeCard &card);
  Status reach(const MoeCard &card);

  std::shared_ptr<dl::GpuContext> gpu_;
  dl::CudaAddress address_ = 0;
  std::vector<dl::CudaAddress> opened_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_MEMORY_H
