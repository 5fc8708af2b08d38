// bounce.h - pinned memory through which bytes are copied between the host and a GPU's stream.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_BOUNCE_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_BOUNCE_H

#include "runtime/gpu/gpu.h"
#include "runtime/step/crew.h"
#include "runtime/step/device/device.h"

#include <memory>
#include <vector>

namespace coll::rt {

// Belongs to the rank's thread, on which the GPU is current. Before it is destroyed, the streams
// are done.
//
// Uploads go through a ring of pieces: while some are written, those before them are on their way.
// The ring is small, so that it stays in the processor's caches, which makes writing several times
// faster than into memory as large as a batch. Several threads write large inputs.
class Bounce {
public:
  // All copies are put on `stream`. `upBytes`: the most that is uploaded at a time; it only bounds
  // the ring. `downBytes` likewise for downloads; for more than these the host waits in between,
  // and 0 allows none. `writers`: how many threads may write large inputs, the caller's included.
  static Result<std::unique_ptr<Bounce>> create(gpu::Gpu &gpu, dl::CudaStream stream,
                                                int64_t upBytes, int64_t downBytes, int writers);
  ~Bounce();

  // Calls `write` at once, piece by piece, for large inputs from several threads at once.
  Status upload(char *dst, int64_t bytes, const InputWriter &write);
  // `hostDst` is written by finish(), or before.
  Status download(char *hostDst, const char *src, int64_t bytes);
  // The same, at once: blocks until the stream is done.
  Status fetch(char *hostDst, const char *src, int64_t bytes);
  // Call it when the rank's stream is done: copies downloaded bytes to their destinations.
  void finish();

private:
  Bounce(gpu::Gpu &gpu, dl::CudaStream stream) : gpu_(gpu), stream_(stream) {}
  Status drain();
  // Leaves the present piece to its copies.
  Status leavePiece();
  // Waits for the copies of a piece.
  Status awaitPiece(size_t piece);
  // Copies [begin, end) of an input, which begin with an unused piece, by all writers together.
  Status uploadTogether(char *dst, int64_t begin, int64_t end, const InputWriter &write);
  Status put(char *dst, const char *pinned, int64_t bytes);
  char *pieceAt(size_t piece) const;

  struct Pending {
    char *dst;
    const char *pinned;
    int64_t bytes;
  };

  gpu::Gpu &gpu_;
  dl::CudaStream stream_;
  dl::GpuMemory up_, down_;
  std::vector<dl::CudaEvent> copied_; // by piece: its copies are done; null: they are
  size_t piece_ = 0;                  // the present one
  int64_t pieceUsed_ = 0;             // bytes of it
  int writers_ = 1;
  std::unique_ptr<Crew> crew_; // of the writers; null before the first large input
  int64_t downUsed_ = 0;
  std::vector<Pending> pending_;
};

// Inputs that are copied to the GPU on a stream of their own, through pinned memory of their own,
// so that nothing here waits for the step. There they wait, and are copied to their destinations at
// the beginning of the step, since a graph has fixed addresses.
class GpuInputsAhead final : public InputsAhead {
public:
  // `stream` is the rank's.
  static Result<std::unique_ptr<GpuInputsAhead>> create(gpu::Gpu &gpu, dl::CudaStream stream,
                                                        int64_t bytes, int writers);
  ~GpuInputsAhead() override;

  Status bring(int64_t offset, int64_t bytes, const InputWriter &write) override;
  Status take(const std::vector<Input> &inputs) override;

private:
  GpuInputsAhead(gpu::Gpu &gpu, dl::CudaStream stream) : gpu_(gpu), stream_(stream) {}

  gpu::Gpu &gpu_;
  dl::CudaStream stream_;
  dl::CudaStream copies_ = nullptr;
  std::unique_ptr<Bounce> bounce_;
  dl::GpuMemory memory_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_BOUNCE_H
