// gpu.h - the GPU of one rank: its context, and events for reuse.
//
// Belongs to the rank's thread. The context is current while a Scope lives.

#ifndef COLL_RUNTIME_GPU_GPU_H
#define COLL_RUNTIME_GPU_GPU_H

#include "runtime/dl/gpu_memory.h"

#include <memory>
#include <string>
#include <vector>

namespace coll::rt::gpu {

// A copy of `rows` rows of `bytes` bytes. If the source is null, writes zeros (one row).
struct Copy {
  char *dst = nullptr;
  const char *src = nullptr;
  int64_t dstPitch = 0, srcPitch = 0;
  int64_t bytes = 0, rows = 1;
};

class Gpu {
public:
  // `user` names the user of the memory in messages. With `keepsContext` the context outlives the
  // object, for libraries that destroy objects in the background.
  static Result<std::unique_ptr<Gpu>> open(const dl::Cuda &cuda, int ordinal, const char *user,
                                           bool keepsContext);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  const dl::Cuda &cuda() const { return cuda_; }
  int ordinal() const { return context_->ordinal(); }
  const std::shared_ptr<dl::GpuContext> &context() const { return context_; }
  // The stream for work that does not belong to a communicator.
  dl::CudaStream stream() const { return stream_; }

  // Makes the GPU current on this thread while it lives.
  struct Scope {
    explicit Scope(const Gpu &gpu) : scope(gpu.cuda(), gpu.context()->context()) {}
    dl::CudaScope scope;
  };

  // While it lives, this thread may make calls that the driver otherwise rejects during a capture.
  class BesideCaptures {
  public:
    explicit BesideCaptures(const dl::Cuda &cuda) : cuda_(cuda) { exchange(); }
    ~BesideCaptures() { exchange(); }
    BesideCaptures(const BesideCaptures &) = delete;
    BesideCaptures &operator=(const BesideCaptures &) = delete;

  private:
    void exchange() { (void)cuda_.threadExchangeCaptureMode(&mode_); }
    const dl::Cuda &cuda_;
    int mode_ = dl::kCudaCaptureRelaxed;
  };

  Result<dl::CudaStream> makeStream();
  void endStream(dl::CudaStream stream);

  // An event that is recorded on the stream. Give it back with put().
  Result<dl::CudaEvent> record(dl::CudaStream stream);
  // Whether the GPU has reached the event.
  Result<bool> reached(dl::CudaEvent event) const;
  void put(dl::CudaEvent event);
  // Later work on `later` waits for the present work on `earlier`.
  Status order(dl::CudaStream earlier, dl::CudaStream later);
  // The same for the work on a stream at the time the event was recorded; takes the event back.
  Status order(dl::CudaEvent earlier, dl::CudaStream later);

  // After an abort: waits, for a bounded time, until the stream is empty. Kernels then end soon,
  // but not at once, and may use buffers until they end.
  void drain(dl::CudaStream stream);

  Status copy(const Copy &copy, dl::CudaStream stream) const;
  // Ok, or the reason why this GPU must not use the memory.
  Status check(const void *data, const char *what) const;

private:
  Gpu(const dl::Cuda &cuda, const char *user) : cuda_(cuda), user_(user) {}

  const dl::Cuda &cuda_;
  const std::string user_;
  std::shared_ptr<dl::GpuContext> context_;
  dl::CudaStream stream_ = nullptr;
  std::vector<dl::CudaEvent> events_; // not in use
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_GPU_GPU_H
