#include "runtime/backend/net/gpu/buffers.h"

#include "runtime/backend/net/algorithms/apply.h"
#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::network {

namespace {

int64_t sourceBytes(const Call &call, int64_t n, int position) {
  if (call.kind == OpKind::Send)
    return call.count * dtypeSize(call.dtype);
  return call.kind == OpKind::Recv ? 0 : contribution(call, n, position);
}

} // namespace

GpuBuffers::~GpuBuffers() {
  movers_.clear();
  for (net::Memory *memory : memories_)
    transport_.deregMr(memory);
}

Result<GpuMover *> GpuBuffers::mover(int gpu) {
  if (auto known = movers_.find(gpu); known != movers_.end())
    return known->second.get();
  GpuMoverOptions options = options_;
  if (options.path != GpuPath::Kernel) {
    Result<std::shared_ptr<GpuContext>> context = GpuContext::open(*gpuPlatform().cuda, gpu);
    if (!context)
      return context.status();
    dl::CudaScope scope(*gpuPlatform().cuda, (*context)->context());
    net::MemoryRegion everything; // memory of the current GPU
    everything.bytes = ~uint64_t{0};
    everything.kind = net::MemoryKind::Cuda;
    Result<net::Memory *> memory = transport_.regMr(0, everything);
    if (!memory)
      return memory.status();
    memories_.push_back(*memory);
    options.memory = *memory;
  }
  Result<std::unique_ptr<GpuMover>> made = GpuMover::create(gpuPlatform(), gpu, options);
  if (!made)
    return made.status().annotate("GPU " + std::to_string(gpu));
  GpuMover *mover = movers_.emplace(gpu, made.take()).first->second.get();
  gpu_ = movers_.begin()->first;
  return mover;
}

Result<GpuMover *> GpuBuffers::moverFor(const Call &call, int64_t n, int position) {
  GpuMover *const host = nullptr;
  const bool hasSource = sourceBytes(call, n, position) > 0;
  const bool hasDestination = destinationBytes(call, n) > 0;
  if (!gpuPlatform().cuda || (!hasSource && !hasDestination))
    return host;
  const int source = hasSource ? gpuOf(call.src) : gpuOf(call.dst);
  const int destination = hasDestination ? gpuOf(call.dst) : source;
  if (source != destination)
    return Status(kCollUnsupported, describe(call) + ": source and destination have to be in the "
                                                     "same GPU's memory, or both in the host's");
  return source < 0 ? host : mover(source);
}

void GpuBuffers::drain() {
  for (auto &[gpu, mover] : movers_)
    mover->drain();
}

Status GpuBuffers::copy(void *dst, const void *src, int64_t bytes) {
  const int to = gpuOf(dst), from = gpuOf(src);
  if (to < 0 && from < 0) {
    std::memcpy(dst, src, static_cast<size_t>(bytes));
    return {};
  }
  Result<GpuMover *> copier = mover(std::max(to, from));
  if (!copier)
    return copier.status();
  if (to >= 0 && from >= 0)
    return (*copier)->copyNow(dst, src, bytes);
  return to >= 0 ? (*copier)->write(dst, src, bytes) : (*copier)->read(dst, src, bytes);
}

Status GpuBuffers::synchronize(void *stream) {
  const dl::Cuda *cuda = gpuPlatform().cuda;
  if (!cuda)
    return {kCollUnsupported, "a stream, and no GPU"};
  Result<std::shared_ptr<GpuContext>> gpu = GpuContext::open(*cuda, gpu_);
  if (!gpu)
    return gpu.status();
  dl::CudaScope scope(*cuda, (*gpu)->context());
  COLL_RETURN_IF_ERROR(scope.status());
  return dl::cudaStatus(*cuda, cuda->streamSynchronize(static_cast<dl::CudaStream>(stream)),
                        "cuStreamSynchronize");
}

void GpuBuffers::goBesideCaptures() const {
  thread_local bool done = false;
  if (done || movers_.empty())
    return;
  int mode = dl::kCudaCaptureRelaxed;
  done = gpuPlatform().cuda->threadExchangeCaptureMode(&mode) == dl::kCudaSuccess;
}

//===-- the detour --------------------------------------------------------------===//

Result<std::unique_ptr<Activity>> HostDetour::create(GpuMover &mover, const Call &call,
                                                     int64_t srcBytes, int64_t dstBytes,
                                                     const Make &make) {
  std::unique_ptr<HostDetour> detour(new HostDetour(mover, call));
  detour->dstBytes_ = dstBytes;
  detour->src_.resize(static_cast<size_t>(std::max(srcBytes, dstBytes)));
  COLL_RETURN_IF_ERROR(mover.read(detour->src_.data(), call.src, srcBytes));
  Call onHost = call;
  onHost.src = detour->src_.data();
  onHost.dst = detour->src_.data();
  if (call.src != call.dst) {
    detour->dst_.resize(static_cast<size_t>(dstBytes));
    onHost.dst = detour->dst_.data();
  }
  detour->inner_ = make(onHost);
  return std::unique_ptr<Activity>(std::move(detour));
}

Result<bool> HostDetour::advance(bool &moved) {
  Result<bool> done = inner_->advance(moved);
  failedPeer = inner_->failedPeer;
  if (!done || !*done)
    return done;
  const std::vector<char> &from = call_.src == call_.dst ? src_ : dst_;
  COLL_RETURN_IF_ERROR(mover_.write(call_.dst, from.data(), dstBytes_));
  return true;
}

} // namespace coll::rt::network
