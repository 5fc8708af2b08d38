#include "runtime/step/device/gpu/bounce.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

namespace coll::rt {

namespace {

// A piece takes the GPU about 10 us, several times as long as the call that puts it on the stream.
constexpr int64_t kPieceBytes = int64_t{512} << 10;
constexpr int64_t kLeastPieces = 2, kMostPieces = 8;
constexpr int64_t kAlignment = 64;
// From here on it is worth while to wake other threads.
constexpr int64_t kLargeBytes = int64_t{8} << 20;

} // namespace

Result<std::unique_ptr<Bounce>> Bounce::create(gpu::Gpu &gpu, dl::CudaStream stream,
                                               int64_t upBytes, int64_t downBytes, int writers) {
  std::unique_ptr<Bounce> bounce(new Bounce(gpu, stream));
  const int64_t pieces = std::clamp(upBytes / kPieceBytes + 1, kLeastPieces, kMostPieces);
  bounce->copied_.resize(static_cast<size_t>(pieces));
  // Half of the ring is written while the other half is on its way.
  bounce->writers_ = static_cast<int>(std::clamp<int64_t>(writers, 1, pieces / 2));
  for (auto [memory, bytes] :
       {std::pair(&bounce->up_, pieces * kPieceBytes), std::pair(&bounce->down_, downBytes)}) {
    if (bytes == 0)
      continue;
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

char *Bounce::pieceAt(size_t piece) const {
  return up_.host() + static_cast<int64_t>(piece) * kPieceBytes;
}

Status Bounce::leavePiece() {
  Result<dl::CudaEvent> left = gpu_.record(stream_);
  if (!left)
    return left.status();
  copied_[piece_] = *left;
  piece_ = (piece_ + 1) % copied_.size();
  pieceUsed_ = 0;
  return {};
}

// Polls, as the driver's own wait for an event does: as a rule only copies come before the event.
Status Bounce::awaitPiece(size_t piece) {
  while (copied_[piece]) {
    Result<bool> reached = gpu_.reached(copied_[piece]);
    if (!reached)
      return reached.status();
    if (*reached)
      gpu_.put(std::exchange(copied_[piece], nullptr));
    else
      std::this_thread::yield();
  }
  return {};
}

Status Bounce::put(char *dst, const char *pinned, int64_t bytes) {
  return gpu_.context()->check(gpu_.cuda().memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(dst),
                                                           pinned, static_cast<size_t>(bytes),
                                                           stream_),
                               "cuMemcpyHtoDAsync");
}

Status Bounce::uploadTogether(char *dst, int64_t begin, int64_t end, const InputWriter &write) {
  const auto sizeAt = [&](int index) {
    return std::clamp<int64_t>(end - begin - index * kPieceBytes, 0, kPieceBytes);
  };
  const auto pieceOf = [&](int index) {
    return pieceAt((piece_ + static_cast<size_t>(index)) % copied_.size());
  };
  for (; begin < end; begin += writers_ * kPieceBytes) {
    for (int i = 0; i < writers_; ++i)
      COLL_RETURN_IF_ERROR(awaitPiece((piece_ + static_cast<size_t>(i)) % copied_.size()));
    std::atomic<bool> hasMemory{true};
    crew_->run([&](int index) {
      try {
        if (const int64_t size = sizeAt(index); size > 0)
          write(begin + index * kPieceBytes, size, pieceOf(index));
      } catch (const std::bad_alloc &) {
        hasMemory = false;
      }
    });
    if (!hasMemory)
      return {kCollDevice, "the process is out of memory"};
    for (int i = 0; i < writers_ && sizeAt(i) > 0; ++i) {
      COLL_RETURN_IF_ERROR(put(dst + begin + i * kPieceBytes, pieceAt(piece_), sizeAt(i)));
      COLL_RETURN_IF_ERROR(leavePiece());
    }
  }
  return {};
}

Status Bounce::upload(char *dst, int64_t bytes, const InputWriter &write) {
  const bool isLarge = writers_ > 1 && bytes >= kLargeBytes;
  if (isLarge && pieceUsed_ > 0)
    COLL_RETURN_IF_ERROR(leavePiece());
  if (isLarge && !crew_) {
    Result<std::unique_ptr<Crew>> crew = Crew::create(writers_, Crew::First::Caller);
    if (crew)
      crew_ = crew.take();
    else
      writers_ = 1;
  }
  if (isLarge && crew_)
    return uploadTogether(dst, 0, bytes, write);
  for (int64_t done = 0; done < bytes;) {
    COLL_RETURN_IF_ERROR(awaitPiece(piece_));
    const int64_t size = std::min(kPieceBytes - pieceUsed_, bytes - done);
    char *pinned = pieceAt(piece_) + pieceUsed_;
    write(done, size, pinned);
    COLL_RETURN_IF_ERROR(put(dst + done, pinned, size));
    pieceUsed_ += (size + kAlignment - 1) / kAlignment * kAlignment;
    done += size;
    if (pieceUsed_ == kPieceBytes)
      COLL_RETURN_IF_ERROR(leavePiece());
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
                                                               int64_t bytes, int writers) {
  std::unique_ptr<GpuInputsAhead> ahead(new GpuInputsAhead(gpu, stream));
  Result<dl::GpuMemory> memory =
      dl::GpuMemory::create(gpu.context(), dl::GpuMemory::Kind::Device, bytes);
  if (!memory)
    return memory.status();
  ahead->memory_ = memory.take();
  Result<dl::CudaStream> copies = gpu.makeStream();
  if (!copies)
    return copies.status();
  ahead->copies_ = *copies;
  Result<std::unique_ptr<Bounce>> bounce =
      Bounce::create(gpu, *copies, bytes, /*downBytes=*/0, writers);
  if (!bounce)
    return bounce.status();
  ahead->bounce_ = bounce.take();
  return ahead;
}

GpuInputsAhead::~GpuInputsAhead() {
  if (!copies_)
    return;
  gpu::Gpu::Scope scope(gpu_);
  gpu_.drain(copies_);
  bounce_.reset();
  gpu_.endStream(copies_);
}

Status GpuInputsAhead::bring(int64_t offset, int64_t bytes, const InputWriter &write) {
  gpu::Gpu::Scope scope(gpu_);
  return bounce_->upload(memory_.device() + offset, bytes, write);
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
