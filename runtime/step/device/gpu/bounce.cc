#include "runtime/step/device/gpu/bounce.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

namespace coll::rt {

namespace {

// A piece takes the GPU about 10 us, several times as long as the call that puts it on the stream.
constexpr int64_t kPieceBytes = int64_t{512} << 10;
constexpr int64_t kLeastPieces = 2, kMostPieces = 8;
constexpr int64_t kAlignment = 64;

} // namespace

Result<std::unique_ptr<Bounce>> Bounce::create(gpu::Gpu &gpu, dl::CudaStream stream,
                                               int64_t upBytes, int64_t downBytes) {
  std::unique_ptr<Bounce> bounce(new Bounce(gpu, stream));
  const int64_t pieces = std::clamp(upBytes / kPieceBytes + 1, kLeastPieces, kMostPieces);
  bounce->copied_.resize(static_cast<size_t>(pieces));
  bounce->pieceStream_ = stream;
  for (auto [memory, bytes] :
       {std::pair(&bounce->up_, pieces * kPieceBytes), std::pair(&bounce->down_, downBytes)}) {
    Result<dl::GpuMemory> made =
        dl::GpuMemory::create(gpu.context(), dl::GpuMemory::Kind::Pinned, bytes);
    if (!made)
      return made.status().annotate("pinned memory for " + std::to_string(bytes) +
                                    " bytes of inputs or results");
    *memory = made.take();
  }
  return bounce;
}

Bounce::~Bounce() {
  for (dl::CudaEvent event : copied_)
    gpu_.put(event);
}

Status Bounce::drain() {
  COLL_RETURN_IF_ERROR(
      gpu_.context()->check(gpu_.cuda().streamSynchronize(stream_), "cuStreamSynchronize"));
  finish();
  return {};
}

void Bounce::finish() {
  for (const Pending &pending : pending_)
    std::memcpy(pending.dst, pending.pinned, static_cast<size_t>(pending.bytes));
  pending_.clear();
  downUsed_ = 0;
}

// Polls, as the driver's own wait for an event does: as a rule only copies come before the event.
Status Bounce::takePiece() {
  Result<dl::CudaEvent> left = gpu_.record(pieceStream_);
  if (!left)
    return left.status();
  copied_[piece_] = *left;
  piece_ = (piece_ + 1) % copied_.size();
  pieceUsed_ = 0;
  while (copied_[piece_]) {
    Result<bool> reached = gpu_.reached(copied_[piece_]);
    if (!reached)
      return reached.status();
    if (*reached)
      gpu_.put(std::exchange(copied_[piece_], nullptr));
    else
      std::this_thread::yield();
  }
  return {};
}

Status Bounce::uploadOn(dl::CudaStream stream, char *dst, int64_t bytes, const InputWriter &write) {
  if (stream != pieceStream_ && pieceUsed_ > 0)
    COLL_RETURN_IF_ERROR(takePiece());
  pieceStream_ = stream;
  for (int64_t done = 0; done < bytes;) {
    if (pieceUsed_ == kPieceBytes)
      COLL_RETURN_IF_ERROR(takePiece());
    const int64_t size = std::min(kPieceBytes - pieceUsed_, bytes - done);
    char *pinned = up_.host() + static_cast<int64_t>(piece_) * kPieceBytes + pieceUsed_;
    write(done, size, pinned);
    COLL_RETURN_IF_ERROR(gpu_.context()->check(
        gpu_.cuda().memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(dst + done), pinned,
                                    static_cast<size_t>(size), stream),
        "cuMemcpyHtoDAsync"));
    pieceUsed_ += (size + kAlignment - 1) / kAlignment * kAlignment;
    done += size;
  }
  return {};
}

Status Bounce::download(char *hostDst, const char *src, int64_t bytes) {
  for (int64_t done = 0; done < bytes;) {
    if (downUsed_ == down_.bytes())
      COLL_RETURN_IF_ERROR(drain());
    const int64_t piece = std::min(down_.bytes() - downUsed_, bytes - done);
    char *pinned = down_.host() + downUsed_;
    COLL_RETURN_IF_ERROR(gpu_.context()->check(
        gpu_.cuda().memcpyDtoHAsync(pinned, reinterpret_cast<dl::CudaAddress>(src + done),
                                    static_cast<size_t>(piece), stream_),
        "cuMemcpyDtoHAsync"));
    pending_.push_back({hostDst + done, pinned, piece});
    downUsed_ += piece;
    done += piece;
  }
  return {};
}

Status Bounce::fetch(char *hostDst, const char *src, int64_t bytes) {
  COLL_RETURN_IF_ERROR(download(hostDst, src, bytes));
  return drain();
}

//===-- inputs ahead of time ----------------------------------------------------===//

Result<std::unique_ptr<GpuInputsAhead>> GpuInputsAhead::create(gpu::Gpu &gpu, dl::CudaStream stream,
                                                               Bounce &bounce, int64_t bytes) {
  std::unique_ptr<GpuInputsAhead> ahead(new GpuInputsAhead(gpu, stream, bounce));
  Result<dl::GpuMemory> memory =
      dl::GpuMemory::create(gpu.context(), dl::GpuMemory::Kind::Device, bytes);
  if (!memory)
    return memory.status();
  ahead->memory_ = memory.take();
  Result<dl::CudaStream> copies = gpu.makeStream();
  if (!copies)
    return copies.status();
  ahead->copies_ = *copies;
  return ahead;
}

GpuInputsAhead::~GpuInputsAhead() {
  if (!copies_)
    return;
  gpu::Gpu::Scope scope(gpu_);
  gpu_.drain(copies_);
  gpu_.endStream(copies_);
}

Status GpuInputsAhead::bring(int64_t offset, int64_t bytes, const InputWriter &write) {
  gpu::Gpu::Scope scope(gpu_);
  return bounce_.uploadOn(copies_, memory_.device() + offset, bytes, write);
}

Status GpuInputsAhead::take(const std::vector<Input> &inputs) {
  gpu::Gpu::Scope scope(gpu_);
  COLL_RETURN_IF_ERROR(gpu_.order(copies_, stream_));
  for (const Input &input : inputs)
    if (input.bytes > 0)
      COLL_RETURN_IF_ERROR(gpu_.copy(
          {static_cast<char *>(input.dst), memory_.device() + input.offset, 0, 0, input.bytes},
          stream_));
  // Before the step is put on the stream: the next inputs wait for these copies, and not for it.
  return gpu_.order(stream_, copies_);
}

} // namespace coll::rt
