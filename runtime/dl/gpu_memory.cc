#include "runtime/dl/gpu_memory.h"

#include <utility>

namespace coll::rt::dl {

// Whether a kernel has failed; the driver then fails all later calls of the process.
static bool isFault(CudaResult result) {
  constexpr CudaResult kIllegalAddress = 700, kAssert = 710, kHardwareStack = 714,
                       kLaunchFailed = 719;
  return result == kIllegalAddress || result == kAssert ||
         (result >= kHardwareStack && result <= kLaunchFailed);
}

Result<std::shared_ptr<GpuContext>> GpuContext::open(const Cuda &cuda, int ordinal) {
  std::shared_ptr<GpuContext> gpu(new GpuContext(cuda, ordinal));
  CudaDevice device = 0;
  COLL_RETURN_IF_ERROR(gpu->check(cuda.deviceGet(&device, ordinal), "cuDeviceGet"));
  const CudaResult retained = cuda.primaryContextRetain(&gpu->context_, device);
  Status status = gpu->check(retained, "cuDevicePrimaryCtxRetain");
  if (isFault(retained))
    status = {status.code(), status.message() + "; a kernel's fault has ended the use of GPUs by "
                                                "this process: start another one"};
  if (!status.ok())
    return status;
  return gpu;
}

GpuContext::~GpuContext() {
  if (context_)
    cuda_.primaryContextRelease(ordinal_);
}

GpuMemory &GpuMemory::operator=(GpuMemory &&other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(device_, other.device_);
  std::swap(host_, other.host_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

GpuMemory::~GpuMemory() {
  if (!gpu_)
    return;
  CudaScope scope(gpu_->cuda(), gpu_->context());
  if (host_)
    gpu_->cuda().memFreeHost(host_);
  else if (device_)
    gpu_->cuda().memFree(device_);
}

Result<GpuMemory> GpuMemory::create(std::shared_ptr<GpuContext> gpu, Kind kind, int64_t bytes) {
  const Cuda &cuda = gpu->cuda();
  CudaScope scope(cuda, gpu->context());
  COLL_RETURN_IF_ERROR(scope.status());
  GpuMemory memory;
  memory.gpu_ = gpu;
  memory.bytes_ = bytes;
  const size_t size = static_cast<size_t>(bytes);
  if (kind == Kind::Device) {
    COLL_RETURN_IF_ERROR(gpu->check(cuda.memAlloc(&memory.device_, size), "cuMemAlloc"));
    return memory;
  }
  COLL_RETURN_IF_ERROR(
      gpu->check(cuda.memHostAlloc(&memory.host_, size, kCudaHostPortable | kCudaHostMapped),
                 "cuMemHostAlloc"));
  COLL_RETURN_IF_ERROR(gpu->check(cuda.memHostGetDevicePointer(&memory.device_, memory.host_, 0),
                                  "cuMemHostGetDevicePointer"));
  return memory;
}

} // namespace coll::rt::dl
