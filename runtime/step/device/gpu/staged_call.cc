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

Result<std::unique_ptr<StagedCall>> StagedCall::begin(gpu::Gpu &gpu, dl::CudaStream stream,
                                                      Call &call, const CallExtents &extents) {
  std::unique_ptr<StagedCall> staged(new StagedCall(gpu, stream));
  const int64_t srcBytes = call.src ? extents.src * dtypeSize(call.dtype) : 0;
  const int64_t dstBytes = call.dst ? extents.dst * dtypeSize(dstType(call)) : 0;
  const bool isInPlace = call.src && call.src == call.dst;
  staged->dstAt_ = isInPlace ? 0 : alignUp(srcBytes);
  staged->dstBytes_ = dstBytes;
  staged->gpuDst_ = static_cast<char *>(call.dst);
  const int64_t total = std::max(staged->dstAt_ + dstBytes, alignUp(srcBytes));
  if (total > 0) {
    Result<dl::GpuMemory> host =
        dl::GpuMemory::create(gpu.context(), dl::GpuMemory::Kind::Pinned, total);
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
