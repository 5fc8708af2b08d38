#include "runtime/step/device/gpu/bounce.h"

#include <algorithm>
#include <cstring>

namespace coll::rt {

Result<std::unique_ptr<Bounce>> Bounce::create(gpu::Gpu &gpu, dl::CudaStream stream,
                                               int64_t bytes) {
  std::unique_ptr<Bounce> bounce(new Bounce(gpu, stream));
  bounce->bytes_ = bytes;
  for (dl::GpuMemory *memory : {&bounce->up_, &bounce->down_}) {
    Result<dl::GpuMemory> made =
        dl::GpuMemory::create(gpu.context(), dl::GpuMemory::Kind::Pinned, bytes);
    if (!made)
      return made.status().annotate("pinned memory for " + std::to_string(bytes) +
                                    " bytes of inputs or results");
    *memory = made.take();
  }
  return bounce;
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
  upUsed_ = downUsed_ = 0;
}

Status Bounce::put(char *dst, const char *pinned, int64_t bytes) {
  return gpu_.context()->check(gpu_.cuda().memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(dst),
                                                           pinned, static_cast<size_t>(bytes),
                                                           stream_),
                               "cuMemcpyHtoDAsync");
}

Status Bounce::upload(char *dst, int64_t bytes, const std::function<void(char *)> &write) {
  if (bytes == 0)
    return {};
  if (bytes <= bytes_) {
    if (bytes > bytes_ - upUsed_)
      COLL_RETURN_IF_ERROR(drain());
    char *pinned = up_.host() + upUsed_;
    upUsed_ += bytes;
    write(pinned);
    return put(dst, pinned, bytes);
  }
  std::vector<char> whole(static_cast<size_t>(bytes));
  write(whole.data());
  for (int64_t done = 0; done < bytes; done += bytes_) {
    COLL_RETURN_IF_ERROR(drain());
    const int64_t piece = std::min(bytes_, bytes - done);
    std::memcpy(up_.host(), whole.data() + done, static_cast<size_t>(piece));
    upUsed_ = piece;
    COLL_RETURN_IF_ERROR(put(dst + done, up_.host(), piece));
  }
  return {};
}

Status Bounce::download(char *hostDst, const char *src, int64_t bytes) {
  for (int64_t done = 0; done < bytes;) {
    if (downUsed_ == bytes_)
      COLL_RETURN_IF_ERROR(drain());
    const int64_t piece = std::min(bytes_ - downUsed_, bytes - done);
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

} // namespace coll::rt
