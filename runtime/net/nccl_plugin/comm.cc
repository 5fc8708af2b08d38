#include "runtime/net/nccl_plugin/comm.h"

namespace coll::net::nccl {

Comm::Comm(std::shared_ptr<Network> network, const Device &device,
           std::unique_ptr<Connection> connection, bool receives, ProfilerHook profiler)
    : network_(std::move(network)), device_(device), connection_(std::move(connection)),
      receives_(receives), profiler_(profiler),
      source_{network_->transport().name(), device.name.c_str(), network_->nextConnection(),
              receives} {}

// Open events are not ended: NCCL's profiler may already be unloaded.
Comm::~Comm() { connection_->close(); }

const DeviceHandle *Comm::deviceHandle() const {
  return receives_ && network_->unpacks() ? connection_->deviceHandle() : nullptr;
}

Operation *Comm::findFree() {
  for (size_t tries = 0; tries < kMaxOperations; ++tries) {
    Operation &operation = operations_[next_++ % kMaxOperations];
    if (!operation.inner)
      return &operation;
  }
  return nullptr;
}

Result<Operation *> Comm::begin(Result<Request *> posted, void *parent) {
  if (!posted.ok())
    return posted.status();
  if (!*posted)
    return static_cast<Operation *>(nullptr);
  Operation *operation = findFree();
  operation->comm = this;
  operation->inner = *posted;
  operation->events.begin(profiler_, parent, messages_++);
  return operation;
}

Result<Operation *> Comm::isend(void *data, uint64_t bytes, int tag, const MemoryHandle *memory,
                                void *parent) {
  if (memory && memory->type != kPtrHost && !(device_.pointers & kPtrDmabuf))
    return Status::invalid("a send from GPU memory, which this device cannot access: "
                           "NCCL_NET_GDR_READ=0 makes NCCL send from host memory");
  if (!findFree())
    return static_cast<Operation *>(nullptr);
  Segment segment{data, bytes, memory ? memory->memory : nullptr};
  return begin(connection_->isend(&segment, 1, static_cast<uint32_t>(tag)), parent);
}

Result<Operation *> Comm::irecv(void *data, uint64_t bytes, int tag, const MemoryHandle *memory,
                                void *parent) {
  // NCCL's kernel takes a slot for every message of an UNPACK connection.
  if (deviceHandle() && (!memory || memory->type == kPtrHost))
    return Status::invalid("UNPACK mode: NCCL receives into host memory, which its kernel would "
                           "unpack; GPU memory needs NCCL_NET_GDR_LEVEL=SYS");
  if (!findFree())
    return static_cast<Operation *>(nullptr);
  Segment segment{data, bytes, memory ? memory->memory : nullptr};
  return begin(connection_->irecv(&segment, 1, static_cast<uint32_t>(tag)), parent);
}

Result<Operation *> Comm::iflush(void *data, uint64_t bytes, const MemoryHandle *memory) {
  if (!device_.needsFlush || !memory || memory->type == kPtrHost)
    return static_cast<Operation *>(nullptr);
  // NCCL takes null for a flush that is done, so a lack of room is an error here.
  const Status noRoom = Status::invalid("a flush in addition to " + std::to_string(kMaxOperations) +
                                        " requests of its connection: NCCL has at most 32");
  if (!findFree())
    return noRoom;
  Segment segment{data, bytes, memory->memory};
  Result<Operation *> operation = begin(connection_->iflush(&segment, 1), nullptr);
  return operation.ok() && !*operation ? noRoom : operation;
}

Result<Completion> Comm::test(Operation &operation) {
  if (!operation.inner)
    return operation.failure.ok() ? Status::invalid("a request that has ended") : operation.failure;
  Result<Completion> outcome = connection_->test(operation.inner);
  if (operation.events.isTraced())
    operation.events.update(source_, *connection_, operation.inner, outcome);
  if (outcome.ok() && !outcome->done)
    return outcome;
  operation.failure = outcome.status();
  operation.inner = nullptr;
  return outcome;
}

Result<MemoryHandle *> Comm::registerMemory(const MemoryRegion &region, int type) {
  auto handle = std::make_unique<MemoryHandle>();
  handle->type = type;
  if ((type & device_.pointers) == 0)
    return Status::invalid("memory of a kind that the device does not list");
  if (type != kPtrHost || network_->registersHost()) {
    Result<Memory *> memory = network_->transport().regMr(device_.number, region);
    if (!memory.ok())
      return memory.status();
    handle->memory = *memory;
  }
  return handle.release();
}

void Comm::deregister(MemoryHandle *handle) {
  if (handle && handle->memory)
    network_->transport().deregMr(handle->memory);
  delete handle;
}

} // namespace coll::net::nccl
