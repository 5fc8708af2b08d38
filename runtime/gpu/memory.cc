#include "runtime/gpu/memory.h"

#include <utility>

namespace coll::rt::gpu {

namespace {

// More than any GPU has, and small enough for sums.
constexpr int64_t kMostBytes = int64_t{1} << 46;

int64_t roundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

dl::CudaMemoryProperties propertiesOf(int ordinal) {
  dl::CudaMemoryProperties properties;
  properties.location.id = ordinal;
  return properties;
}

// Maps physical memory for this GPU alone. Leaves nothing behind on failure.
Result<dl::CudaAddress> map(const GpuContext &gpu, dl::CudaMemory memory, size_t bytes) {
  const dl::Cuda &cuda = gpu.cuda();
  dl::CudaAddress address = 0;
  COLL_RETURN_IF_ERROR(
      gpu.check(cuda.memAddressReserve(&address, bytes, 0, 0, 0), "cuMemAddressReserve"));
  Status mapped = gpu.check(cuda.memMap(address, bytes, 0, memory, 0), "cuMemMap");
  if (mapped.ok()) {
    dl::CudaAccess access;
    access.location.id = gpu.ordinal();
    mapped = gpu.check(cuda.memSetAccess(address, bytes, &access, 1), "cuMemSetAccess");
    if (!mapped.ok())
      (void)cuda.memUnmap(address, bytes);
  }
  if (!mapped.ok()) {
    (void)cuda.memAddressFree(address, bytes);
    return mapped;
  }
  return address;
}

void unmap(const dl::Cuda &cuda, dl::CudaAddress address, int64_t bytes) {
  (void)cuda.memUnmap(address, static_cast<size_t>(bytes));
  (void)cuda.memAddressFree(address, static_cast<size_t>(bytes));
}

} // namespace

const char *nameOf(Sharing sharing) {
  return sharing == Sharing::Process ? "peer access"
         : sharing == Sharing::Ipc   ? "CUDA IPC"
                                     : "VMM descriptors";
}

bool canShare(const dl::Cuda &cuda, int ordinal, Sharing sharing) {
  if (sharing != Sharing::Vmm)
    return true;
  auto has = [&](int attribute) {
    int value = 0;
    return cuda.deviceGetAttribute(&value, attribute, ordinal) == dl::kCudaSuccess && value != 0;
  };
  return cuda.memCreate && cuda.memExport && cuda.memImport && cuda.memMap &&
         has(dl::kCudaVmmSupported) && has(dl::kCudaVmmByDescriptor);
}

//===-- of this rank ------------------------------------------------------------===//

Result<Block> Block::create(std::shared_ptr<GpuContext> gpu, Sharing sharing, int64_t bytes,
                            uint64_t id) {
  if (bytes > kMostBytes)
    return Status(kCollDevice, "no GPU has " + std::to_string(bytes) + " bytes of memory");
  const dl::Cuda &cuda = gpu->cuda();
  dl::CudaScope scope(cuda, gpu->context());
  COLL_RETURN_IF_ERROR(scope.status());
  Block block;
  block.gpu_ = gpu;
  block.bytes_ = bytes;
  block.isOwn_ = true;
  block.export_.sharing = sharing;
  block.export_.id = id;
  block.export_.bytes = bytes;
  if (sharing == Sharing::Vmm) {
    dl::CudaMemoryProperties properties = propertiesOf(gpu->ordinal());
    size_t unit = 0;
    COLL_RETURN_IF_ERROR(gpu->check(cuda.memGetGranularity(&unit, &properties, /*minimum=*/0),
                                    "cuMemGetAllocationGranularity"));
    block.export_.bytes = roundUp(bytes, static_cast<int64_t>(unit));
    auto size = static_cast<size_t>(block.export_.bytes);
    COLL_RETURN_IF_ERROR(
        gpu->check(cuda.memCreate(&block.memory_, size, &properties, 0), "cuMemCreate"));
    Result<dl::CudaAddress> address = map(*gpu, block.memory_, size);
    if (!address)
      return address.status();
    block.address_ = *address;
  } else {
    // Peers open a complete allocation, whose size the driver rounds up.
    block.export_.bytes = roundUp(bytes, int64_t(2) << 20);
    COLL_RETURN_IF_ERROR(gpu->check(
        cuda.memAlloc(&block.address_, static_cast<size_t>(block.export_.bytes)), "cuMemAlloc"));
    block.export_.address = block.address_;
    if (sharing == Sharing::Ipc)
      COLL_RETURN_IF_ERROR(gpu->check(cuda.ipcGetMemHandle(&block.export_.ipc, block.address_),
                                      "cuIpcGetMemHandle"));
  }
  return block;
}

Result<Block> Block::of(std::shared_ptr<GpuContext> gpu, Sharing sharing, void *data,
                        int64_t bytes) {
  const dl::Cuda &cuda = gpu->cuda();
  dl::CudaScope scope(cuda, gpu->context());
  COLL_RETURN_IF_ERROR(scope.status());
  auto address = reinterpret_cast<dl::CudaAddress>(data);
  size_t size = 0;
  Block block;
  COLL_RETURN_IF_ERROR(
      gpu->check(cuda.memGetAddressRange(&block.address_, &size, address), "cuMemGetAddressRange"));
  block.gpu_ = gpu;
  block.bytes_ = bytes;
  block.export_.sharing = sharing == Sharing::Process ? sharing : Sharing::Ipc;
  block.export_.bytes = static_cast<int64_t>(size);
  block.export_.offset = static_cast<int64_t>(address - block.address_);
  block.export_.address = block.address_;
  if (bytes > block.export_.bytes - block.export_.offset)
    return Status::invalid("a buffer of " + std::to_string(bytes) +
                           " bytes is larger than the memory that it is in");
  if (sharing != Sharing::Process &&
      cuda.ipcGetMemHandle(&block.export_.ipc, block.address_) != dl::kCudaSuccess)
    return Status(kCollUnsupported,
                  "this memory cannot be opened by other processes: CUDA IPC takes memory of "
                  "cudaMalloc only");
  return block;
}

Block &Block::operator=(Block &&other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(export_, other.export_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  std::swap(memory_, other.memory_);
  std::swap(isOwn_, other.isOwn_);
  return *this;
}

Block::~Block() {
  if (!gpu_ || !isOwn_)
    return;
  const dl::Cuda &cuda = gpu_->cuda();
  dl::CudaScope scope(cuda, gpu_->context());
  if (export_.sharing != Sharing::Vmm && address_)
    (void)cuda.memFree(address_);
  if (export_.sharing == Sharing::Vmm && address_)
    unmap(cuda, address_, export_.bytes);
  if (memory_)
    (void)cuda.memRelease(memory_);
}

Result<Fd> Block::descriptor() const {
  int fd = -1;
  COLL_RETURN_IF_ERROR(
      gpu_->check(gpu_->cuda().memExport(&fd, memory_, dl::kCudaHandleDescriptor, 0),
                  "cuMemExportToShareableHandle"));
  return Fd(fd);
}

//===-- of others ---------------------------------------------------------------===//

Status reach(const GpuContext &gpu, int ordinal) {
  if (ordinal == gpu.ordinal())
    return Status::okay();
  Result<std::shared_ptr<GpuContext>> peer = GpuContext::open(gpu.cuda(), ordinal);
  if (!peer)
    return peer.status();
  dl::CudaScope scope(gpu.cuda(), gpu.context());
  COLL_RETURN_IF_ERROR(scope.status());
  const dl::CudaResult result = gpu.cuda().contextEnablePeerAccess((*peer)->context(), 0);
  return result == dl::kCudaPeerAccessAlready ? Status::okay()
                                              : gpu.check(result, "cuCtxEnablePeerAccess");
}

Result<Window> Window::open(std::shared_ptr<GpuContext> gpu, const Export &exported,
                            const Fd &descriptor) {
  const dl::Cuda &cuda = gpu->cuda();
  dl::CudaScope scope(cuda, gpu->context());
  COLL_RETURN_IF_ERROR(scope.status());
  Window window;
  window.gpu_ = gpu;
  window.sharing_ = exported.sharing;
  window.bytes_ = exported.bytes;
  window.offset_ = exported.offset;
  if (exported.sharing == Sharing::Process) {
    window.address_ = exported.address;
  } else if (exported.sharing == Sharing::Ipc) {
    COLL_RETURN_IF_ERROR(gpu->check(
        cuda.ipcOpenMemHandle(&window.address_, exported.ipc, dl::kCudaIpcLazyPeerAccess),
        "cuIpcOpenMemHandle"));
  } else {
    dl::CudaMemory memory = 0;
    auto handle = static_cast<intptr_t>(descriptor.get());
    COLL_RETURN_IF_ERROR(gpu->check(
        cuda.memImport(&memory, reinterpret_cast<void *>(handle), dl::kCudaHandleDescriptor),
        "cuMemImportFromShareableHandle"));
    Result<dl::CudaAddress> address = map(*gpu, memory, static_cast<size_t>(exported.bytes));
    // The mapping keeps the memory.
    (void)cuda.memRelease(memory);
    if (!address)
      return address.status();
    window.address_ = *address;
  }
  return window;
}

Window &Window::operator=(Window &&other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(sharing_, other.sharing_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  std::swap(offset_, other.offset_);
  return *this;
}

Window::~Window() {
  if (!gpu_ || !address_ || sharing_ == Sharing::Process)
    return;
  const dl::Cuda &cuda = gpu_->cuda();
  dl::CudaScope scope(cuda, gpu_->context());
  if (sharing_ == Sharing::Ipc)
    (void)cuda.ipcCloseMemHandle(address_);
  else
    unmap(cuda, address_, bytes_);
}

} // namespace coll::rt::gpu
