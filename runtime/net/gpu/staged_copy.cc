#include "runtime/net/gpu/staged_copy.h"

#include "runtime/base/log.h"

#include <mutex>

namespace coll::net {

namespace {

using rt::dl::Cuda;
using rt::dl::CudaScope;
using rt::dl::cudaStatus;

void warnOfLazyLoading(const Cuda &cuda) {
  static std::once_flag once;
  std::call_once(once, [&] {
    if (rt::dl::lazyLoading(cuda))
      rt::log(rt::LogLevel::Warn,
              "CUDA loads kernels lazily: a copy by the network's thread can wait for ever for a "
              "kernel that waits for the network; set CUDA_MODULE_LOADING=EAGER");
  });
}

} // namespace

StagedCopy::~StagedCopy() {
  if (!event_)
    return;
  wait();
  CudaScope scope(gpu_->cuda(), gpu_->context());
  (void)gpu_->cuda().eventDestroy(event_);
}

Status StagedCopy::begin(const std::shared_ptr<Gpu> &gpu, const Runs &runs, uint64_t address,
                         bool in) {
  const Cuda &cuda = gpu->cuda();
  warnOfLazyLoading(cuda);
  CudaScope scope(cuda, gpu->context());
  COLL_RETURN_IF_ERROR(scope.status());
  if (event_ && gpu_ != gpu) {
    (void)gpu_->cuda().eventDestroy(event_); // its copies have ended or failed
    event_ = nullptr;
  }
  if (!event_)
    COLL_RETURN_IF_ERROR(
        cudaStatus(cuda, cuda.eventCreate(&event_, rt::dl::kCudaEventNoTiming), "cuEventCreate"));
  gpu_ = gpu;
  rt::dl::CudaStream stream = in ? gpu->copyIn() : gpu->copyOut();
  running_ = true; // even if this fails half way, because copies that have begun must be waited for
  for (const rt::PageDescriptor &run : runs) {
    uint8_t *host = gpu->bounce().host() + run.bounceOff;
    uint64_t device = address + run.bufferOff;
    COLL_RETURN_IF_ERROR(in ? cudaStatus(cuda, cuda.memcpyHtoDAsync(device, host, run.len, stream),
                                         "cuMemcpyHtoDAsync")
                            : cudaStatus(cuda, cuda.memcpyDtoHAsync(host, device, run.len, stream),
                                         "cuMemcpyDtoHAsync"));
  }
  return cudaStatus(cuda, cuda.eventRecord(event_, stream), "cuEventRecord");
}

Status StagedCopy::toGpu(const std::shared_ptr<Gpu> &gpu, const Runs &runs, uint64_t address) {
  return begin(gpu, runs, address, /*in=*/true);
}

Status StagedCopy::fromGpu(const std::shared_ptr<Gpu> &gpu, const Runs &runs, uint64_t address) {
  return begin(gpu, runs, address, /*in=*/false);
}

Result<bool> StagedCopy::done() {
  if (!running_)
    return true;
  CudaScope scope(gpu_->cuda(), gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  rt::dl::CudaResult result = gpu_->cuda().eventQuery(event_);
  if (result == rt::dl::kCudaNotReady)
    return false;
  running_ = false;
  COLL_RETURN_IF_ERROR(cudaStatus(gpu_->cuda(), result, "a copy between host and GPU"));
  return true;
}

void StagedCopy::wait() {
  if (!running_)
    return;
  running_ = false;
  CudaScope scope(gpu_->cuda(), gpu_->context());
  // Both streams, because the event may never have been recorded. An error means that the GPU is
  // lost.
  (void)gpu_->cuda().streamSynchronize(gpu_->copyIn());
  (void)gpu_->cuda().streamSynchronize(gpu_->copyOut());
}

} // namespace coll::net
