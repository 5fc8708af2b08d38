#include "tools/coll-perf/moe/gpu_room.h"

#include "runtime/base/log.h"
#include "runtime/exchange/moe/platform.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace coll::perf {

using rt::dl::CudaAddress;
using rt::dl::GpuMemory;

namespace {

CudaAddress addressOf(const void *data) { return reinterpret_cast<CudaAddress>(data); }

} // namespace

Status GpuRoom::open(int rank, int ranks) {
  Result<rt::MoePlatform> platform = rt::moePlatform();
  if (!platform)
    return platform.status();
  const rt::dl::Cuda &cuda = *platform->cuda;
  int count = 0;
  COLL_RETURN_IF_ERROR(rt::dl::cudaStatus(cuda, cuda.deviceGetCount(&count), "cuDeviceGetCount"));
  if (count == 0)
    return {kCollUnsupported, "no GPU is visible"};
  if (count < ranks && rank == 0)
    rt::log(rt::LogLevel::Warn, std::to_string(ranks) + " processes share " +
                                    std::to_string(count) + (count == 1 ? " GPU" : " GPUs") +
                                    ": they take turns, so the times are not meaningful");
  Result<std::shared_ptr<rt::dl::GpuContext>> gpu = rt::dl::GpuContext::open(cuda, rank % count);
  if (!gpu)
    return gpu.status();
  gpu_ = gpu.take();
  return Status::okay();
}

Status GpuRoom::wait() const {
  rt::dl::CudaScope scope(cuda(), gpu_->context());
  return gpu_->check(cuda().streamSynchronize(stream_), "cuStreamSynchronize");
}

Result<char *> GpuRoom::allocate(int64_t bytes) {
  Result<GpuMemory> made =
      GpuMemory::create(gpu_, GpuMemory::Kind::Device, std::max<int64_t>(bytes, 16));
  if (!made)
    return made.status();
  memory_.push_back(made.take());
  return memory_.back().device();
}

Result<char *> GpuRoom::put(const void *data, size_t bytes) {
  Result<char *> to = allocate(static_cast<int64_t>(bytes));
  if (!to || bytes == 0)
    return to;
  Result<GpuMemory> stage =
      GpuMemory::create(gpu_, GpuMemory::Kind::Pinned, static_cast<int64_t>(bytes));
  if (!stage)
    return stage.status();
  std::memcpy(stage->host(), data, bytes);
  rt::dl::CudaScope scope(cuda(), gpu_->context());
  COLL_RETURN_IF_ERROR(gpu_->check(
      cuda().memcpyHtoDAsync(addressOf(*to), stage->host(), bytes, stream_), "cuMemcpyHtoDAsync"));
  COLL_RETURN_IF_ERROR(wait());
  return *to;
}

Status GpuRoom::get(void *to, const void *from, size_t bytes) const {
  if (bytes == 0)
    return Status::okay();
  Result<GpuMemory> stage =
      GpuMemory::create(gpu_, GpuMemory::Kind::Pinned, static_cast<int64_t>(bytes));
  if (!stage)
    return stage.status();
  rt::dl::CudaScope scope(cuda(), gpu_->context());
  COLL_RETURN_IF_ERROR(gpu_->check(
      cuda().memcpyDtoHAsync(stage->host(), addressOf(from), bytes, stream_), "cuMemcpyDtoHAsync"));
  COLL_RETURN_IF_ERROR(wait());
  std::memcpy(to, stage->host(), bytes);
  return Status::okay();
}

} // namespace coll::perf
