#include "runtime/net/gpu/gpu.h"

#include <cstring>
#include <map>

namespace coll::net {

namespace {

using rt::dl::Cuda;
using rt::dl::CudaScope;
using rt::dl::cudaStatus;

constexpr uint64_t kSlabBytes = 64 << 10;

struct Registry {
  std::mutex mutex;
  std::map<std::pair<const Cuda *, int>, std::weak_ptr<Gpu>> gpus;

  static Registry &get() {
    static Registry registry;
    return registry;
  }
};

class CudaPinner final : public Pinner {
public:
  CudaPinner(const Cuda &cuda, rt::dl::CudaContext context) : cuda_(cuda), context_(context) {}

  Status pin(uint8_t *data, uint64_t bytes) override {
    CudaScope scope(cuda_, context_);
    COLL_RETURN_IF_ERROR(scope.status());
    return cudaStatus(
        cuda_,
        cuda_.memHostRegister(data, bytes, rt::dl::kCudaHostPortable | rt::dl::kCudaHostMapped),
        "cuMemHostRegister of " + std::to_string(bytes) + " bytes");
  }
  void unpin(uint8_t *data, uint64_t) override {
    CudaScope scope(cuda_, context_);
    // at the end of the process the driver may already be unloaded
    (void)cuda_.memHostUnregister(data);
  }
  Result<uint64_t> deviceAddress(uint8_t *data) override {
    CudaScope scope(cuda_, context_);
    COLL_RETURN_IF_ERROR(scope.status());
    uint64_t address = 0;
    COLL_RETURN_IF_ERROR(cudaStatus(cuda_, cuda_.memHostGetDevicePointer(&address, data, 0),
                                    "cuMemHostGetDevicePointer"));
    return address;
  }

private:
  const Cuda &cuda_;
  rt::dl::CudaContext context_;
};

} // namespace

MappedMemory &MappedMemory::operator=(MappedMemory &&other) noexcept {
  std::swap(cuda_, other.cuda_);
  std::swap(context_, other.context_);
  std::swap(host_, other.host_);
  std::swap(device_, other.device_);
  return *this;
}

MappedMemory::~MappedMemory() {
  if (!host_)
    return;
  CudaScope scope(*cuda_, context_);
  (void)cuda_->memFreeHost(host_);
}

Result<std::shared_ptr<Gpu>> Gpu::get(const Cuda &cuda, int ordinal, uint64_t bounceBytes) {
  Registry &registry = Registry::get();
  std::lock_guard<std::mutex> lock(registry.mutex);
  std::weak_ptr<Gpu> &known = registry.gpus[{&cuda, ordinal}];
  if (std::shared_ptr<Gpu> gpu = known.lock())
    return gpu;
  std::shared_ptr<Gpu> gpu(new Gpu(cuda, ordinal));
  Status started = gpu->start(bounceBytes);
  if (!started.ok())
    return started.annotate("GPU " + std::to_string(ordinal));
  known = gpu;
  return gpu;
}

std::shared_ptr<Gpu> Gpu::find(const Cuda &cuda, int ordinal) {
  Registry &registry = Registry::get();
  std::lock_guard<std::mutex> lock(registry.mutex);
  auto it = registry.gpus.find({&cuda, ordinal});
  return it == registry.gpus.end() ? nullptr : it->second.lock();
}

int Gpu::current(const Cuda &cuda) {
  rt::dl::CudaDevice device = 0;
  return cuda.contextGetDevice(&device) == rt::dl::kCudaSuccess ? device : 0;
}

Status Gpu::start(uint64_t bounceBytes) {
  COLL_RETURN_IF_ERROR(cudaStatus(cuda_, cuda_.deviceGet(&device_, ordinal_), "cuDeviceGet"));
  COLL_RETURN_IF_ERROR(cudaStatus(cuda_, cuda_.primaryContextRetain(&context_, device_),
                                  "cuDevicePrimaryCtxRetain"));
  CudaScope scope(cuda_, context_);
  COLL_RETURN_IF_ERROR(scope.status());
  for (rt::dl::CudaStream *stream : {&copyIn_, &copyOut_})
    COLL_RETURN_IF_ERROR(cudaStatus(
        cuda_, cuda_.streamCreate(stream, rt::dl::kCudaStreamNonBlocking), "cuStreamCreate"));
  Result<MappedMemory> stage = mapHost(kCellBytes);
  if (!stage.ok())
    return stage.status();
  stage_ = stage.take();
  Result<std::unique_ptr<BouncePool>> pool =
      BouncePool::create(std::make_unique<CudaPinner>(cuda_, context_), bounceBytes);
  if (!pool.ok())
    return pool.status();
  bounce_ = pool.take();
  return {};
}

Gpu::~Gpu() {
  if (!context_)
    return;
  bounce_.reset();
  stage_ = MappedMemory();
  slotMemory_.clear();
  {
    // Errors are ignored: they occur if the process ends and the driver was unloaded before.
    CudaScope scope(cuda_, context_);
    for (uint64_t slab : slabs_)
      (void)cuda_.memFree(slab);
    for (rt::dl::CudaStream stream : {copyIn_, copyOut_})
      if (stream)
        (void)cuda_.streamDestroy(stream);
  }
  (void)cuda_.primaryContextRelease(device_);
}

Result<MappedMemory> Gpu::mapHost(uint64_t bytes) {
  CudaScope scope(cuda_, context_);
  COLL_RETURN_IF_ERROR(scope.status());
  MappedMemory memory;
  memory.cuda_ = &cuda_;
  memory.context_ = context_;
  void *data = nullptr;
  COLL_RETURN_IF_ERROR(cudaStatus(
      cuda_, cuda_.memHostAlloc(&data, bytes, rt::dl::kCudaHostPortable | rt::dl::kCudaHostMapped),
      "cuMemHostAlloc of " + std::to_string(bytes) + " bytes"));
  memory.host_ = static_cast<uint8_t *>(data);
  COLL_RETURN_IF_ERROR(cudaStatus(cuda_, cuda_.memHostGetDevicePointer(&memory.device_, data, 0),
                                  "cuMemHostGetDevicePointer"));
  std::memset(data, 0, bytes);
  return memory;
}

Result<MappedMemory> Gpu::takeSlotMemory() {
  MappedMemory memory;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!slotMemory_.empty()) {
      memory = std::move(slotMemory_.back());
      slotMemory_.pop_back();
    }
  }
  if (!memory.host())
    return mapHost(kSlotBytes);
  std::memset(memory.host(), 0, kSlotBytes);
  return memory;
}

void Gpu::giveSlotMemory(MappedMemory memory) {
  std::lock_guard<std::mutex> lock(mutex_);
  slotMemory_.push_back(std::move(memory));
}

Result<uint64_t> Gpu::makeCell(const void *content, uint64_t bytes) {
  if (bytes > kCellBytes)
    return Status::internal("a cell of " + std::to_string(bytes) + " bytes");
  CudaScope scope(cuda_, context_);
  COLL_RETURN_IF_ERROR(scope.status());
  std::lock_guard<std::mutex> lock(mutex_);
  if (freeCells_.empty()) {
    uint64_t slab = 0;
    COLL_RETURN_IF_ERROR(cudaStatus(cuda_, cuda_.memAlloc(&slab, kSlabBytes), "cuMemAlloc"));
    slabs_.push_back(slab);
    for (uint64_t at = kSlabBytes; at > 0; at -= kCellBytes)
      freeCells_.push_back(slab + at - kCellBytes);
  }
  uint64_t cell = freeCells_.back();
  std::memcpy(stage_.host(), content, bytes);
  COLL_RETURN_IF_ERROR(cudaStatus(cuda_, cuda_.memcpyHtoDAsync(cell, stage_.host(), bytes, copyIn_),
                                  "cuMemcpyHtoDAsync"));
  COLL_RETURN_IF_ERROR(cudaStatus(cuda_, cuda_.streamSynchronize(copyIn_), "cuStreamSynchronize"));
  freeCells_.pop_back();
  return cell;
}

void Gpu::freeCell(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  freeCells_.push_back(address);
}

} // namespace coll::net
