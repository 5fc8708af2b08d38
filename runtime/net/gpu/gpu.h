// gpu.h - the state that the connections of one GPU share: its context, a copy stream, the bounce
// pool, and small allocations in its memory.

#ifndef COLL_RUNTIME_NET_GPU_GPU_H
#define COLL_RUNTIME_NET_GPU_GPU_H

#include "runtime/base/unpack_layout.h"
#include "runtime/dl/cuda.h"
#include "runtime/net/gpu/bounce_pool.h"

#include <memory>
#include <mutex>
#include <vector>

namespace coll::net {

// Pinned host memory, mapped for every GPU. Its destructor frees it, which waits for running
// kernels.
class MappedMemory {
public:
  MappedMemory() = default;
  MappedMemory(MappedMemory &&other) noexcept { *this = std::move(other); }
  MappedMemory &operator=(MappedMemory &&other) noexcept;
  ~MappedMemory();

  uint8_t *host() const { return host_; }
  uint64_t device() const { return device_; }

private:
  friend class Gpu;
  const rt::dl::Cuda *cuda_ = nullptr;
  rt::dl::CudaContext context_ = nullptr;
  uint8_t *host_ = nullptr;
  uint64_t device_ = 0;
};

class Gpu {
public:
  // The process's only object for this GPU and driver table. The first caller creates it and sets
  // the limit of the bounce pool; the last user destroys it. Only that destruction waits for
  // running kernels, because CUDA frees no memory while they run.
  static Result<std::shared_ptr<Gpu>> get(const rt::dl::Cuda &cuda, int ordinal,
                                          uint64_t bounceBytes);
  // The pool of a GPU that is in use; null otherwise.
  static std::shared_ptr<Gpu> find(const rt::dl::Cuda &cuda, int ordinal);
  // The current GPU of this thread; 0 if there is none.
  static int current(const rt::dl::Cuda &cuda);
  ~Gpu();

  int ordinal() const { return ordinal_; }
  const rt::dl::Cuda &cuda() const { return cuda_; }
  rt::dl::CudaContext context() const { return context_; }
  BouncePool &bounce() { return *bounce_; }
  // Non-blocking, for copies only. All HOST paths of this GPU share the two.
  rt::dl::CudaStream copyIn() const { return copyIn_; }
  rt::dl::CudaStream copyOut() const { return copyOut_; }

  // Allocates kSlotBytes of pinned memory, zeroed. Returned memory is reused.
  static constexpr uint64_t kSlotBytes = sizeof(rt::PackMeta);
  static_assert(kSlotBytes >= sizeof(rt::UnpackMeta));
  Result<MappedMemory> takeSlotMemory();
  void giveSlotMemory(MappedMemory memory);
  // `bytes` <= kCellBytes of GPU memory with this content; freeCell() frees it.
  static constexpr uint64_t kCellBytes = 64;
  Result<uint64_t> makeCell(const void *content, uint64_t bytes);
  void freeCell(uint64_t address);

private:
  Gpu(const rt::dl::Cuda &cuda, int ordinal) : cuda_(cuda), ordinal_(ordinal) {}
  Status start(uint64_t bounceBytes);
  Result<MappedMemory> mapHost(uint64_t bytes);

  const rt::dl::Cuda &cuda_;
  const int ordinal_;
  rt::dl::CudaDevice device_ = 0;
  rt::dl::CudaContext context_ = nullptr;
  rt::dl::CudaStream copyIn_ = nullptr, copyOut_ = nullptr;
  std::unique_ptr<BouncePool> bounce_;
  std::mutex mutex_;   // protects the members below
  MappedMemory stage_; // the source of a cell's content
  std::vector<MappedMemory> slotMemory_;
  std::vector<uint64_t> slabs_, freeCells_;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_GPU_H
