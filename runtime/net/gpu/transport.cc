#include "runtime/net/gpu/transport.h"

#include "runtime/base/log.h"
#include "runtime/net/gpu/connection.h"

#include <algorithm>
#include <map>
#include <unistd.h>

namespace coll::net {

namespace {

constexpr uint64_t kEverything = ~uint64_t(0);

class DeviceConnector final : public Connector {
public:
  DeviceConnector(DeviceShared &shared, const DeviceProperties &properties,
                  std::unique_ptr<Connector> inner)
      : shared_(shared), properties_(properties), inner_(std::move(inner)) {}

  Result<std::unique_ptr<Connection>> poll() override {
    Result<std::unique_ptr<Connection>> made = inner_->poll();
    if (!made.ok() || !*made)
      return made;
    return GpuConnection::create(shared_, properties_, made.take(), Role::Connected);
  }

private:
  DeviceShared &shared_;
  const DeviceProperties properties_;
  const std::unique_ptr<Connector> inner_;
};

class DeviceListener final : public Listener {
public:
  DeviceListener(DeviceShared &shared, const DeviceProperties &properties,
                 std::unique_ptr<Listener> inner)
      : shared_(shared), properties_(properties), inner_(std::move(inner)) {}

  const Handle &handle() const override { return inner_->handle(); }
  Result<std::unique_ptr<Connection>> accept() override {
    Result<std::unique_ptr<Connection>> made = inner_->accept();
    if (!made.ok() || !*made)
      return made;
    return GpuConnection::create(shared_, properties_, made.take(), Role::Accepted);
  }

private:
  DeviceShared &shared_;
  const DeviceProperties properties_;
  const std::unique_ptr<Listener> inner_;
};

class Decorator final : public DeviceTransport {
public:
  Decorator(std::unique_ptr<Transport> inner, const rt::dl::Cuda &cuda,
            const DeviceOptions &options)
      : shared_{cuda, options, {}, {}, {}}, inner_(std::move(inner)), devices_(inner_->devices()) {
    for (DeviceProperties &device : devices_) {
      device.memoryKinds |= static_cast<uint32_t>(MemoryKind::Cuda);
      if (options.unpacks()) {
        device.deviceType = DeviceType::Unpack;
        device.deviceVersion = rt::kUnpackVersion;
      }
    }
  }

  const char *name() const override { return inner_->name(); }
  void hurry() override { inner_->hurry(); }
  const std::vector<DeviceProperties> &devices() const override { return devices_; }

  Result<std::unique_ptr<Listener>> listen(int device) override {
    Result<std::unique_ptr<Listener>> listener = inner_->listen(device);
    if (!listener.ok())
      return listener;
    return std::unique_ptr<Listener>(std::make_unique<DeviceListener>(
        shared_, devices_[static_cast<size_t>(device)], listener.take()));
  }

  Result<std::unique_ptr<Connector>> connect(int device, const Handle &handle) override {
    Result<std::unique_ptr<Connector>> connector = inner_->connect(device, handle);
    if (!connector.ok())
      return connector;
    return std::unique_ptr<Connector>(std::make_unique<DeviceConnector>(
        shared_, devices_[static_cast<size_t>(device)], connector.take()));
  }

  Result<Memory *> regMr(int device, const MemoryRegion &region) override {
    if (device < 0 || static_cast<size_t>(device) >= devices_.size())
      return Status::invalid("there is no device " + std::to_string(device));
    auto memory = std::make_unique<DeviceMemory>();
    memory->kind = region.kind;
    memory->data = memory->innerBase = static_cast<uint8_t *>(region.data);
    memory->bytes = region.bytes;
    if (region.kind == MemoryKind::Cuda) {
      COLL_RETURN_IF_ERROR(registerCuda(device, region, *memory));
    } else {
      Result<Memory *> inner = inner_->regMr(device, region);
      if (!inner.ok())
        return inner;
      memory->inner = *inner;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    Memory *key = memory.get();
    memories_[key] = std::move(memory);
    return key;
  }

  void deregMr(Memory *memory) override {
    std::unique_ptr<DeviceMemory> gone;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto it = memories_.find(memory);
      if (it == memories_.end())
        return;
      gone = std::move(it->second);
      memories_.erase(it);
    }
    if (gone->inner)
      inner_->deregMr(gone->inner);
  }

  DeviceStats stats() const override { return shared_.counters.get(); }
  BounceStats bounceStats(int ordinal) const override {
    std::shared_ptr<Gpu> gpu = Gpu::find(shared_.cuda, ordinal);
    return gpu ? gpu->bounce().stats() : BounceStats();
  }

private:
  Status registerCuda(int device, const MemoryRegion &region, DeviceMemory &memory) {
    const DeviceOptions &options = shared_.options;
    memory.everything = !region.data && region.bytes == kEverything;
    rt::dl::CudaPointerInfo info;
    if (memory.everything)
      info.ordinal = options.gpu >= 0 ? options.gpu : Gpu::current(shared_.cuda);
    else
      info = rt::dl::cudaPointerInfo(shared_.cuda, region.data);
    if (info.ordinal < 0)
      return Status::invalid("CUDA does not know the memory that is to be registered");
    Result<std::shared_ptr<Gpu>> gpu = shared_.gpu(info.ordinal);
    if (!gpu.ok())
      return gpu.status();
    memory.gpu = gpu.take();
    if (!memory.everything)
      registerDirect(device, region, info, memory);
    return {};
  }

  // Lets the transport below move the bytes itself. For memory that it cannot register, the bounce
  // pool is used.
  void registerDirect(int device, MemoryRegion region, const rt::dl::CudaPointerInfo &info,
                      DeviceMemory &memory) {
    uint32_t kinds = inner_->devices()[static_cast<size_t>(device)].memoryKinds;
    auto takes = [kinds](MemoryKind kind) { return (kinds & static_cast<uint32_t>(kind)) != 0; };
    rt::dl::CudaDmabuf dmabuf;
    if (!info.device && !info.managed) {
      region.kind = MemoryKind::Host;
      region.data = info.host;
    } else if (info.device && !takes(MemoryKind::Cuda) && takes(MemoryKind::Dmabuf)) {
      Result<rt::dl::CudaDmabuf> made =
          rt::dl::cudaExportDmabuf(shared_.cuda, region.data, region.bytes);
      if (!made.ok())
        return fallBack(made.status());
      dmabuf = *made;
      region.kind = MemoryKind::Dmabuf;
      region.dmabufFd = dmabuf.fd;
      region.dmabufOffset = dmabuf.offset;
    } else if (!info.device || !takes(MemoryKind::Cuda)) {
      return;
    }
    Result<Memory *> inner = inner_->regMr(device, region);
    if (dmabuf.fd >= 0)
      ::close(dmabuf.fd);
    if (!inner.ok())
      return fallBack(inner.status());
    memory.inner = *inner;
    memory.innerBase = static_cast<uint8_t *>(region.data);
  }

  static void fallBack(const Status &why) {
    rt::log(rt::LogLevel::Info, "GPU memory goes through a bounce pool: " + why.message());
  }

  DeviceShared shared_;
  const std::unique_ptr<Transport> inner_;
  std::vector<DeviceProperties> devices_;
  std::mutex mutex_;
  std::map<Memory *, std::unique_ptr<DeviceMemory>> memories_;
};

} // namespace

Result<std::unique_ptr<DeviceTransport>> createDeviceTransport(std::unique_ptr<Transport> inner,
                                                               const rt::dl::Cuda &cuda,
                                                               const DeviceOptions &options) {
  // A message occupies up to this many blocks, each a buffer of the request below.
  for (const DeviceProperties &device : inner->devices())
    if (device.maxSegments < static_cast<int>(BouncePool::kGuaranteedBlocks))
      return Status(kCollUnsupported, "device " + device.name + " takes requests of " +
                                          std::to_string(device.maxSegments) +
                                          " buffers, GPU memory needs " +
                                          std::to_string(BouncePool::kGuaranteedBlocks));
  if (options.implicitConsume < 0 || options.implicitConsume > static_cast<int>(rt::kUnpackSlots))
    return Status::invalid("a receive is consumed after 0 to 16 later ones");
  if (options.implicitConsume > 0 && options.slots == SlotOrder::Landing)
    return Status::invalid("slots in the order of landing are freed by consumed(slot) only");
  return std::unique_ptr<DeviceTransport>(
      std::make_unique<Decorator>(std::move(inner), cuda, options));
}

} // namespace coll::net
