#include "runtime/exchange/tensor/memory.h"

#include "runtime/net/socket.h"

namespace coll::rt::exchange {

namespace {

using net::MemoryKind;

// Registers it by a dmabuf descriptor, or lets a decorator of the transport do so.
Result<net::Memory *> registerGpu(net::Transport &transport, int device, const BoxMemory &memory,
                                  uint64_t bytes) {
  const uint32_t kinds = transport.devices()[static_cast<size_t>(device)].memoryKinds;
  if (kinds & static_cast<uint32_t>(MemoryKind::Dmabuf)) {
    Result<dl::CudaDmabuf> dmabuf = dl::cudaExportDmabuf(memory.gpu->cuda(), memory.data, bytes);
    if (!dmabuf)
      return dmabuf.status();
    const Fd fd(dmabuf->fd); // not needed once it is registered
    return transport.regMr(device,
                           {memory.data, bytes, MemoryKind::Dmabuf, fd.get(), dmabuf->offset});
  }
  if (kinds & static_cast<uint32_t>(MemoryKind::Cuda))
    return transport.regMr(device, {memory.data, bytes, MemoryKind::Cuda, -1, 0});
  return Status(kCollUnsupported, "the transport does not take memory of GPUs");
}

} // namespace

BoxMemory memoryAt(const std::shared_ptr<dl::GpuContext> &gpu, void *data) {
  const bool isGpu = gpu && dl::cudaPointerInfo(gpu->cuda(), data).device;
  return {static_cast<char *>(data), isGpu ? gpu.get() : nullptr};
}

Result<net::Memory *> registerReached(net::Transport &transport, int device,
                                      const BoxMemory &memory, int64_t bytes) {
  const auto size = static_cast<uint64_t>(bytes);
  if (!memory.gpu)
    return transport.regMr(device, {memory.data, size, MemoryKind::Host, -1, 0});
  dl::CudaScope scope(memory.gpu->cuda(), memory.gpu->context());
  Result<net::Memory *> made = registerGpu(transport, device, memory, size);
  if (!made)
    return static_cast<net::Memory *>(nullptr);
  if ((*made)->remoteKey().key != 0)
    return made;
  transport.deregMr(*made); // the decorator's bounce buffers serve messages only
  return static_cast<net::Memory *>(nullptr);
}

} // namespace coll::rt::exchange
