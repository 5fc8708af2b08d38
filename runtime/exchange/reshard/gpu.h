// gpu.h - executes a plan on GPU memory, by a kernel over peer memory and by copy engines.
//
//   GpuReshard::create(plan, rank, buffers, gpu, options)   // once; compiles and uploads a table
//   run(stream)                                             // a launch, or one for each stream
//
// The rules are those of reshard.h. All buffers are addresses that this rank's GPU can use: its own
// memory, and the peers' memory as opened by peer access, CUDA IPC or VMM descriptors
// (gpu/memory.h). Work is put on the caller's stream and done in its order. Nothing is allocated,
// so the work may be captured in a graph. When the work on the stream has ended, this rank's writes
// are in place.
//
// Copy engines fill a link better than a kernel (396 GB/s a direction between H200s, against 340 to
// 365), and use no multiprocessor; but each copy costs microseconds, and has rows of one pitch. So
// engines move long rows between GPUs. At the same time the kernel moves the rest, including what a
// rank keeps for itself.

#ifndef COLL_RUNTIME_EXCHANGE_RESHARD_GPU_H
#define COLL_RUNTIME_EXCHANGE_RESHARD_GPU_H

#include "runtime/dl/gpu_memory.h"
#include "runtime/exchange/reshard/reshard.h"
#include "runtime/kernels/reshard/copy.h"

#include <memory>
#include <vector>

namespace coll::rt::exchange {

// How boxes are moved. Auto: engines move boxes between GPUs with long rows, the kernel moves the
// others.
enum class ReshardEngine { Auto, Kernel, Copies };
const char *nameOf(ReshardEngine engine); // "auto", "kernel", "copies"

// Rows of this length and more are copied by engines: they reached 396 GB/s with rows of 50 KiB and
// of 100 KiB on H200s.
inline constexpr int64_t kEngineRowBytes = 32 << 10;

struct GpuReshardOptions {
  // The work is spread over this many streams, 1 to 16: the caller's, and others of the object.
  int streams = 1;
  int blocks = 0; // of the kernel on all streams together; 0: the tuned number
  ReshardEngine engine = ReshardEngine::Auto;
};

// Uploads the entries of tables to GPU memory.
Result<dl::GpuMemory> uploadReshard(const std::shared_ptr<dl::GpuContext> &gpu,
                                    const std::vector<kernels::ReshardEntry> &entries);

class GpuReshard {
public:
  // Like kernels::launchReshardCopy; tests replace it.
  using Launch = Status (*)(const kernels::ReshardCopy &copy, void *stream);

  static Result<std::unique_ptr<GpuReshard>> create(const ReshardPlan &plan, int rank,
                                                    const ReshardBuffers &buffers,
                                                    std::shared_ptr<dl::GpuContext> gpu,
                                                    const GpuReshardOptions &options = {},
                                                    Launch launch = kernels::launchReshardCopy);
  // The caller makes sure that its work on the streams has ended.
  ~GpuReshard();
  GpuReshard(const GpuReshard &) = delete;
  GpuReshard &operator=(const GpuReshard &) = delete;

  Status run(dl::CudaStream stream);
  // Gather: copies from scratch to target, once every rank's run() is done. Otherwise does nothing.
  Status slice(dl::CudaStream stream);

private:
  // The work of one call: copies, in order, by stream, and a table in GPU memory.
  struct Work {
    std::vector<std::vector<dl::CudaCopy2D>> copies;
    uint64_t first = 0; // entry
    kernels::ReshardCounts counts;

    bool hasCopies() const { return !copies.empty() && !copies.front().empty(); }
    bool hasUnits() const { return counts.remoteUnits + counts.localUnits > 0; }
  };

  GpuReshard(std::shared_ptr<dl::GpuContext> gpu, const GpuReshardOptions &options, Launch launch)
      : gpu_(std::move(gpu)), options_(options), launch_(launch) {}
  Status prepare(const std::vector<kernels::ReshardPiece> &pieces, Work &work,
                 std::vector<kernels::ReshardEntry> &entries);
  Status makeStreams();
  Status put(const Work &work, dl::CudaStream stream);
  Status copy(const std::vector<dl::CudaCopy2D> &copies, dl::CudaStream stream);
  Status launch(const Work &work, dl::CudaStream stream, int part, int parts);

  const std::shared_ptr<dl::GpuContext> gpu_;
  const GpuReshardOptions options_;
  const Launch launch_;
  dl::GpuMemory table_;
  Work transfers_, slices_;
  std::vector<dl::CudaStream> streams_; // beside the caller's; the last for a kernel beside copies
  std::vector<dl::CudaEvent> events_;   // the start, then one a stream
};

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_RESHARD_GPU_H
