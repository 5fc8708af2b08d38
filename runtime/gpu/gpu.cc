#include "runtime/gpu/gpu.h"

#include <chrono>
#include <thread>

namespace coll::rt::gpu {

namespace {

constexpr int64_t kDrainUs = 2'000'000;

} // namespace

Result<std::unique_ptr<Gpu>> Gpu::open(const dl::Cuda &cuda, int ordinal, const char *user,
                                       bool keepsContext) {
  int count = 0;
  COLL_RETURN_IF_ERROR(dl::cudaStatus(cuda, cuda.deviceGetCount(&count), "cuDeviceGetCount"));
  if (ordinal < 0 || ordinal >= count)
    return Status(kCollInvalidCall,
                  "there is no GPU " + std::to_string(ordinal) + " among " + std::to_string(count));
  std::unique_ptr<Gpu> gpu(new Gpu(cuda, user));
  Result<std::shared_ptr<dl::GpuContext>> context = dl::GpuContext::open(cuda, ordinal);
  if (!context)
    return context.status();
  gpu->context_ = context.take();
  dl::CudaContext kept = nullptr;
  if (keepsContext)
    COLL_RETURN_IF_ERROR(gpu->context_->check(cuda.primaryContextRetain(&kept, ordinal),
                                              "cuDevicePrimaryCtxRetain"));
  Scope scope(*gpu);
  Result<dl::CudaStream> stream = gpu->makeStream();
  if (!stream)
    return stream.status();
  gpu->stream_ = *stream;
  return gpu;
}

Gpu::~Gpu() {
  if (!context_)
    return;
  Scope scope(*this);
  for (dl::CudaEvent event : events_)
    (void)cuda().eventDestroy(event);
  if (stream_)
    (void)cuda().streamDestroy(stream_);
}

Result<dl::CudaStream> Gpu::makeStream() {
  dl::CudaStream stream = nullptr;
  COLL_RETURN_IF_ERROR(
      context_->check(cuda().streamCreate(&stream, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
  return stream;
}

void Gpu::endStream(dl::CudaStream stream) {
  Scope scope(*this);
  (void)cuda().streamDestroy(stream);
}

Result<dl::CudaEvent> Gpu::record(dl::CudaStream stream) {
  dl::CudaEvent event = nullptr;
  if (!events_.empty()) {
    event = events_.back();
    events_.pop_back();
  } else {
    COLL_RETURN_IF_ERROR(
        context_->check(cuda().eventCreate(&event, dl::kCudaEventNoTiming), "cuEventCreate"));
  }
  Status recorded = context_->check(cuda().eventRecord(event, stream), "cuEventRecord");
  if (recorded.ok())
    return event;
  put(event);
  return recorded;
}

// The driver rejects this call inside a capture, even of other streams.
Result<bool> Gpu::reached(dl::CudaEvent event) const {
  BesideCaptures beside(cuda());
  dl::CudaResult result = cuda().eventQuery(event);
  if (result == dl::kCudaNotReady)
    return false;
  COLL_RETURN_IF_ERROR(context_->check(result, "cuEventQuery"));
  return true;
}

void Gpu::put(dl::CudaEvent event) {
  if (event)
    events_.push_back(event);
}

Status Gpu::order(dl::CudaStream earlier, dl::CudaStream later) {
  Result<dl::CudaEvent> event = record(earlier);
  return event ? order(*event, later) : event.status();
}

Status Gpu::order(dl::CudaEvent earlier, dl::CudaStream later) {
  Status ordered = context_->check(cuda().streamWaitEvent(later, earlier, 0), "cuStreamWaitEvent");
  put(earlier); // a later record does not change what the stream waits for
  return ordered;
}

void Gpu::drain(dl::CudaStream stream) {
  Result<dl::CudaEvent> event = record(stream);
  if (!event)
    return; // after a fault no kernel runs any more
  auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kDrainUs);
  while (std::chrono::steady_clock::now() < deadline) {
    Result<bool> now = reached(*event);
    if (!now || *now)
      break;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  put(*event);
}

Status Gpu::copy(const Copy &copy, dl::CudaStream stream) const {
  auto dst = reinterpret_cast<dl::CudaAddress>(copy.dst);
  auto src = reinterpret_cast<dl::CudaAddress>(copy.src);
  auto bytes = static_cast<size_t>(copy.bytes);
  if (!copy.src)
    return context_->check(cuda().memsetD8Async(dst, 0, bytes, stream), "cuMemsetD8Async");
  if (copy.rows == 1)
    return context_->check(cuda().memcpyAsync(dst, src, bytes, stream), "cuMemcpyAsync");
  dl::CudaCopy2D rows;
  rows.src = src;
  rows.srcPitch = static_cast<size_t>(copy.srcPitch);
  rows.dst = dst;
  rows.dstPitch = static_cast<size_t>(copy.dstPitch);
  rows.bytes = bytes;
  rows.rows = static_cast<size_t>(copy.rows);
  return context_->check(cuda().memcpy2DAsync(&rows, stream), "cuMemcpy2DAsync");
}

Status Gpu::check(const void *data, const char *what) const {
  dl::CudaPointerInfo info = dl::cudaPointerInfo(cuda(), data);
  std::string mine = "memory of GPU " + std::to_string(ordinal());
  if (info.managed || (info.device && info.ordinal == ordinal()))
    return {};
  if (info.device)
    return Status::invalid(std::string("the ") + what + " is memory of GPU " +
                           std::to_string(info.ordinal) + ", and this rank has " + mine);
  return Status::invalid(std::string("the ") + what + " is host memory; " + user_ + " takes " +
                         mine);
}

} // namespace coll::rt::gpu
