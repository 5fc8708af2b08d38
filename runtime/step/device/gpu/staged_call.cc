#include "runtime/step/device/gpu/staged_call.h"

#include "runtime/base/aligned_buffer.h"
#include "runtime/base/dtype.h"

#include <algorithm>

namespace coll::rt {

namespace {

int64_t alignUp(int64_t bytes) {
  constexpr int64_t kAlignment = AlignedBuffer::kAlignment;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace

Result<dl::GpuMemory> PinnedPool::take(int64_t bytes) {
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it)
    if (it->bytes() >= bytes && (best == free_.end() || it->bytes() < best->bytes()))
      best = it;
  if (best == free_.end())
    return dl::GpuMemory::create(gpu_.context(), dl::GpuMemory::Kind::Pinned, bytes);
  dl::GpuMemory memory = std::move(*best);
  free_.erase(best);
  return memory;
}

StagedCall::~StagedCall() {
  if (host_.bytes() > 0)
    pool_.give(std::move(host_));
}

Result<std::unique_ptr<StagedCall>> StagedCall::begin(gpu::Gpu &gpu, PinnedPool &pool,
                                                      dl::CudaStream stream, Call &call,
                                                      const CallExtents &extents) {
  std::unique_ptr<StagedCall> staged(new StagedCall(gpu, pool, stream));
  const int64_t srcBytes = call.src ? extents.src * dtypeSize(call.dtype) : 0;
  const int64_t dstBytes = call.dst ? extents.dst * dtypeSize(dstType(call)) : 0;
  const bool isInPlace = call.src && call.src == call.dst;
  staged->dstAt_ = isInPlace ? 0 : alignUp(srcBytes);
  staged->dstBytes_ = dstBytes;
  staged->gpuDst_ = static_cast<char *>(call.dst);
  const int64_t total = std::max(staged->dstAt_ + dstBytes, alignUp(srcBytes));
  if (total > 0) {
    Result<dl::GpuMemory> host = pool.take(total);
    if (!host)
      return host.status().annotate("pinned memory for the call's buffers, " +
                                    std::to_string(total) + " bytes");
    staged->host_ = host.take();
  }
  const dl::Cuda &cuda = gpu.cuda();
  if (srcBytes > 0)
    COLL_RETURN_IF_ERROR(gpu.context()->check(
        cuda.memcpyDtoHAsync(staged->host_.host(), reinterpret_cast<dl::CudaAddress>(call.src),
                             static_cast<size_t>(srcBytes), stream),
        "cuMemcpyDtoHAsync"));
  COLL_RETURN_IF_ERROR(gpu.context()->check(cuda.streamSynchronize(stream), "cuStreamSynchronize"));
  if (call.src)
    call.src = staged->host_.host();
  if (call.dst)
    call.dst = staged->host_.host() + staged->dstAt_;
  return staged;
}

Status StagedCall::finish() {
  if (dstBytes_ == 0)
    return {};
  const dl::Cuda &cuda = gpu_.cuda();
  COLL_RETURN_IF_ERROR(gpu_.context()->check(
      cuda.memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(gpuDst_), host_.host() + dstAt_,
                           static_cast<size_t>(dstBytes_), stream_),
      "cuMemcpyHtoDAsync"));
  return gpu_.context()->check(cuda.streamSynchronize(stream_), "cuStreamSynchronize");
}

} // namespace coll::rt
