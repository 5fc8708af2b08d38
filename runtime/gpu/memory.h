// memory.h - GPU memory that the ranks of a node reach on each other's GPUs.
//
//   Process  ranks of one process: peer access, the address is the same for all
//   Ipc      between processes: CUDA IPC; any memory of cuMemAlloc (cudaMalloc)
//   Vmm      between processes: physical memory as a file descriptor, which each process maps
//
// An owner creates a Block and sends its Export to peers, which open it as a Window. The owner
// keeps its block until all windows are closed or their processes have ended. One thread at a time
// uses an object, not necessarily its creator; the object makes its GPU current by itself.

#ifndef COLL_RUNTIME_GPU_MEMORY_H
#define COLL_RUNTIME_GPU_MEMORY_H

#include "runtime/base/fd.h"
#include "runtime/dl/gpu_memory.h"

#include <memory>

namespace coll::rt::gpu {

using dl::GpuContext;

enum class Sharing : int32_t { Process, Ipc, Vmm };
const char *nameOf(Sharing sharing); // "peer access", "CUDA IPC", "VMM descriptors"

// What a peer needs to access memory. Plain bytes, the same in all processes of a host.
struct Export {
  Sharing sharing = Sharing::Process;
  int32_t unused = 0;
  int64_t bytes = 0;     // of the exported allocation
  int64_t offset = 0;    // of the memory in the exported allocation
  uint64_t id = 0;       // Vmm: of the descriptor, unique for its owner
  uint64_t address = 0;  // Process
  dl::CudaIpcHandle ipc; // Ipc
};

// GPU memory of this rank that others may open: allocated, or a user's (then freed by the user).
class Block {
public:
  Block() = default;
  Block(Block &&other) noexcept { *this = std::move(other); }
  Block &operator=(Block &&other) noexcept;
  ~Block();

  // At least `bytes` bytes, aligned to 512; the content is undefined.
  static Result<Block> create(std::shared_ptr<GpuContext> gpu, Sharing sharing, int64_t bytes,
                              uint64_t id);
  // The allocation that holds the user's [data, data + bytes). kCollUnsupported if it cannot be
  // shared in this way.
  static Result<Block> of(std::shared_ptr<GpuContext> gpu, Sharing sharing, void *data,
                          int64_t bytes);

  char *data() const { return reinterpret_cast<char *>(address_) + export_.offset; }
  int64_t bytes() const { return bytes_; }
  const Export &exported() const { return export_; }
  // Vmm: a descriptor for others; a new one for each call.
  Result<Fd> descriptor() const;

private:
  std::shared_ptr<GpuContext> gpu_;
  Export export_;
  dl::CudaAddress address_ = 0; // of the exported allocation
  int64_t bytes_ = 0;
  dl::CudaMemory memory_ = 0; // Vmm
  bool isOwn_ = false;
};

// A peer's block, mapped for this rank's GPU.
class Window {
public:
  Window() = default;
  Window(Window &&other) noexcept { *this = std::move(other); }
  Window &operator=(Window &&other) noexcept;
  ~Window();

  // `descriptor` is used for Vmm only.
  static Result<Window> open(std::shared_ptr<GpuContext> gpu, const Export &exported,
                             const Fd &descriptor);
  char *data() const { return reinterpret_cast<char *>(address_) + offset_; }

private:
  std::shared_ptr<GpuContext> gpu_;
  Sharing sharing_ = Sharing::Process;
  dl::CudaAddress address_ = 0;
  int64_t bytes_ = 0, offset_ = 0;
};

// Gives this GPU access to the memory of another GPU, for this process. kCollDevice if that is not
// possible.
Status reach(const GpuContext &gpu, int ordinal);

// Whether the driver reports that memory can be shared between processes in this way.
bool canShare(const dl::Cuda &cuda, int ordinal, Sharing sharing);

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_GPU_MEMORY_H
