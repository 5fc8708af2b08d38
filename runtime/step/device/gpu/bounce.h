// bounce.h - pinned memory through which bytes are copied between the host and a GPU's stream.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_BOUNCE_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_BOUNCE_H

#include "runtime/gpu/gpu.h"

#include <functional>
#include <memory>
#include <vector>

namespace coll::rt {

// Belongs to the rank's thread, on which the GPU is current. The stream is the rank's.
class Bounce {
public:
  // `bytes` for each direction; larger copies are made in pieces, for which the host waits.
  static Result<std::unique_ptr<Bounce>> create(gpu::Gpu &gpu, dl::CudaStream stream,
                                                int64_t bytes);

  // Calls `write` at once, with memory for all bytes.
  Status upload(char *dst, int64_t bytes, const std::function<void(char *)> &write);
  // `hostDst` is written by finish(), or before.
  Status download(char *hostDst, const char *src, int64_t bytes);
  // The same, at once: blocks until the stream is done.
  Status fetch(char *hostDst, const char *src, int64_t bytes);
  // Call it when the stream is done: copies downloaded bytes to their destinations, and frees the
  // memory.
  void finish();

private:
  Bounce(gpu::Gpu &gpu, dl::CudaStream stream) : gpu_(gpu), stream_(stream) {}
  Status drain();
  Status put(char *dst, const char *pinned, int64_t bytes);

  struct Pending {
    char *dst;
    const char *pinned;
    int64_t bytes;
  };

  gpu::Gpu &gpu_;
  dl::CudaStream stream_;
  int64_t bytes_ = 0;
  dl::GpuMemory up_, down_;
  int64_t upUsed_ = 0, downUsed_ = 0;
  std::vector<Pending> pending_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_BOUNCE_H
