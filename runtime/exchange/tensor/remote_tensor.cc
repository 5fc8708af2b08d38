#include "runtime/exchange/tensor/remote_tensor.h"

#include "runtime/base/dtype.h"
#include "runtime/base/env.h"
#include "runtime/exchange/flow/one_sided.h"
#include "runtime/exchange/tensor/memory.h"
#include "runtime/exchange/tensor/wire.h"
#include "runtime/net/node_socket.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace coll::rt::exchange {

namespace {

std::string textOf(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

// Limits the deadline so that it can be added to a time.
RemoteTensorsOptions withDeadline(RemoteTensorsOptions options) {
  options.timeoutUs = std::clamp<int64_t>(options.timeoutUs, 1, kMostTimeoutUs);
  return options;
}

// The boxes between the tensor, or a part of it, and local memory: a reshard of one sender to one
// receiver.
Result<std::vector<StridedBox>> boxesOf(const TensorHandle &handle, const Region &part,
                                        const TensorView &local, bool reads) {
  ReshardSpec spec;
  spec.dtype = handle.dtype;
  spec.shape = part.extent;
  const Region all = {std::vector<int64_t>(part.extent.size(), 0), part.extent};
  Shard remote{0, all, handle.strides, 0}, own{1, all, local.strides, 0};
  // An empty part may begin behind the last element, where an offset need not be representable.
  for (size_t d = 0; d < part.begin.size() && volume(part) > 0; ++d)
    remote.offset += part.begin[d] * handle.strides[d];
  spec.senders = {reads ? remote : own};
  spec.receivers = {reads ? own : remote};
  Result<ReshardPlan> plan = planReshard(spec);
  if (!plan)
    return plan.status();
  std::vector<StridedBox> boxes;
  for (const Transfer &transfer : plan->transfers)
    boxes.insert(boxes.end(), transfer.boxes.begin(), transfer.boxes.end());
  return boxes;
}

// Checks that the tensor is inside the memory that its owner sent: the owner's answer may be wrong.
Status checkAnswer(const TensorAnswer &answer, int64_t span) {
  const gpu::Export &exported = answer.exported;
  const bool isGpu = answer.memory == TensorMemory::Gpu;
  const int64_t offset = isGpu ? exported.offset : answer.offset;
  const int64_t bytes = isGpu ? exported.bytes : INT64_MAX;
  const bool isKnown =
      isGpu ? exported.sharing == gpu::Sharing::Ipc || exported.sharing == gpu::Sharing::Vmm
            : answer.memory == TensorMemory::Shared;
  if (!isKnown || offset < 0 || bytes < span || offset > bytes - span)
    return {kCollPeer, "the owner sent memory that does not contain the tensor"};
  return {};
}

// The owner's memory as addresses of this GPU.
Result<gpu::Window> windowOn(const std::shared_ptr<dl::GpuContext> &gpu, gpu::Export exported,
                             const Fd &descriptor, const Fd &owner) {
  // A process cannot open its own handles.
  if (exported.sharing == gpu::Sharing::Ipc && net::isOwnProcess(owner.get())) {
    exported.sharing = gpu::Sharing::Process;
    const void *memory = reinterpret_cast<void *>(exported.address);
    COLL_RETURN_IF_ERROR(gpu::reach(*gpu, dl::cudaPointerInfo(gpu->cuda(), memory).ordinal));
  }
  return gpu::Window::open(gpu, exported, descriptor);
}

} // namespace

//===-- what is opened once -------------------------------------------------------===//

Result<OwnerLink *> OwnerConnections::get(const net::Handle &listener) {
  if (auto at = open_.find(listener.bytes); at != open_.end())
    return &at->second;
  Result<std::unique_ptr<net::Connector>> connector =
      options_.transport->connect(options_.device, listener);
  if (!connector)
    return connector.status();
  for (const int64_t deadlineUs = net::nowUs() + options_.timeoutUs;;) {
    Result<std::unique_ptr<net::Connection>> got = (*connector)->poll();
    if (!got)
      return got.status();
    if (*got) {
      OwnerLink &link = open_[listener.bytes];
      link.connection = got.take();
      return &link;
    }
    if (net::nowUs() > deadlineUs)
      return Status(kCollTimeout, "it does not accept the connection");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

Result<ChunkLane *> OwnerConnections::lane() {
  if (!lane_) {
    Result<std::unique_ptr<ChunkLane>> made =
        ChunkLane::create(options_.gpu, *options_.transport, options_.device, BoxQuestion::kSlots,
                          BoxQuestion::kChunkBytes);
    if (!made)
      return made.status();
    lane_ = made.take();
  }
  return lane_.get();
}

struct RemoteTensor::Mapping {
  // Declared last, so that it is closed, and the owner notified, when nothing is mapped any more.
  ~Mapping() {
    window = {};
    if (stream) {
      dl::CudaScope scope(gpu->cuda(), gpu->context());
      (void)gpu->cuda().streamDestroy(stream);
    }
  }

  char *data = nullptr; // the first element
  SharedSegment segment;
  std::shared_ptr<dl::GpuContext> gpu; // null for host memory
  gpu::Window window;
  dl::CudaStream stream = nullptr;
  Fd socket;
};

RemoteTensors::RemoteTensors(const RemoteTensorsOptions &options)
    : options_(withDeadline(options)), connections_(std::make_shared<OwnerConnections>(options_)) {}

Result<std::shared_ptr<RemoteTensor>> RemoteTensors::open(std::string_view bytes) {
  auto known = open_.find(bytes);
  if (known != open_.end())
    if (std::shared_ptr<RemoteTensor> tensor = known->second.lock())
      return tensor;
  Result<TensorHandle> handle = TensorHandle::parse(bytes);
  if (!handle)
    return handle.status();
  std::shared_ptr<RemoteTensor> tensor(
      new RemoteTensor(handle.take(), sumOf(bytes), options_, connections_));
  for (auto at = open_.begin(); at != open_.end();)
    at = at->second.expired() ? open_.erase(at) : std::next(at);
  open_[std::string(bytes)] = tensor;
  return tensor;
}

RemoteTensor::RemoteTensor(TensorHandle handle, uint64_t handleSum,
                           const RemoteTensorsOptions &options,
                           std::shared_ptr<OwnerConnections> connections)
    : handle_(std::move(handle)), handleSum_(handleSum), options_(options),
      connections_(std::move(connections)) {}

Status RemoteTensor::named(const Status &status, bool reads) const {
  if (status.ok())
    return status;
  return status.annotate(std::string(reads ? "read of" : "write to") + " the tensor of \"" +
                         handle_.owner + "\"");
}

// Maps the tensor, unless it is mapped and the owner still exists.
Status RemoteTensor::map() {
  if (mapping_) {
    if (!net::isNodePeerGone(mapping_->socket.get()))
      return {};
    mapping_.reset();
    return {kCollPeer, "the owner has withdrawn it, or has ended"};
  }
  Result<Fd> socket = net::connectOnNode(handle_.socket, options_.timeoutUs);
  if (!socket && socket.status().code() == kCollTimeout)
    return socket.status();
  if (!socket)
    return Status(kCollLink, "the owner is not on this node, or has ended");
  net::limitWaiting(*socket, options_.timeoutUs);
  TensorQuestion question;
  question.id = handle_.id;
  question.key = handle_.key;
  question.handleSum = handleSum_;
  TensorAnswer answer;
  COLL_RETURN_IF_ERROR(net::sendToNode(socket->get(), &question, sizeof(question), -1));
  Result<Fd> fd = net::receiveFromNode(socket->get(), &answer, sizeof(answer));
  if (!fd)
    return fd.status();
  answer.text[sizeof(answer.text) - 1] = 0;
  if (answer.code != kCollOk)
    return {static_cast<CollCode>(answer.code), answer.text};
  COLL_RETURN_IF_ERROR(checkAnswer(answer, handle_.span()));
  auto mapping = std::make_shared<Mapping>();
  mapping->socket = socket.take();
  if (answer.memory == TensorMemory::Gpu) {
    if (!options_.gpu)
      return {kCollUnsupported, "it is memory of a GPU, but RemoteTensorsOptions::gpu is not set"};
    mapping->gpu = options_.gpu;
    dl::CudaScope scope(options_.gpu->cuda(), options_.gpu->context());
    COLL_RETURN_IF_ERROR(options_.gpu->check(
        options_.gpu->cuda().streamCreate(&mapping->stream, dl::kCudaStreamNonBlocking),
        "cuStreamCreate"));
    Result<gpu::Window> window = windowOn(options_.gpu, answer.exported, *fd, mapping->socket);
    if (!window)
      return window.status();
    mapping->window = window.take();
    mapping->data = mapping->window.data();
  } else {
    Result<SharedSegment> segment = SharedSegment::open(*fd, answer.offset + handle_.span());
    if (!segment)
      return segment.status();
    mapping->segment = segment.take();
    mapping->data = mapping->segment.data() + answer.offset;
  }
  mapping_ = std::move(mapping);
  return {};
}

//===-- preparing an access ---------------------------------------------------------===//

Status RemoteTensor::readInto(const TensorView &local, const TensorAccess &access) {
  Result<std::unique_ptr<PreparedAccess>> made = prepareRead(local, access);
  return made ? (*made)->run() : made.status();
}

Status RemoteTensor::writeFrom(const TensorView &local, const TensorAccess &access) {
  Result<std::unique_ptr<PreparedAccess>> made = prepareWrite(local, access);
  return made ? (*made)->run() : made.status();
}

Result<std::unique_ptr<PreparedAccess>> RemoteTensor::prepareRead(const TensorView &local,
                                                                  const TensorAccess &access) {
  Result<std::unique_ptr<PreparedAccess>> made = prepare(local, access, /*reads=*/true);
  return made ? std::move(made) : named(made.status(), /*reads=*/true);
}

Result<std::unique_ptr<PreparedAccess>> RemoteTensor::prepareWrite(const TensorView &local,
                                                                   const TensorAccess &access) {
  Result<std::unique_ptr<PreparedAccess>> made = prepare(local, access, /*reads=*/false);
  return made ? std::move(made) : named(made.status(), /*reads=*/false);
}

Result<std::unique_ptr<PreparedAccess>>
RemoteTensor::prepare(const TensorView &local, const TensorAccess &access, bool reads) {
  Region part = {std::vector<int64_t>(handle_.shape.size(), 0), handle_.shape};
  if (access.part)
    part = *access.part;
  if (part.begin.size() != handle_.shape.size() || part.extent.size() != handle_.shape.size())
    return Status::invalid("the part has other dimensions than the tensor " +
                           textOf(handle_.shape));
  for (size_t d = 0; d < part.begin.size(); ++d)
    if (part.begin[d] < 0 || part.extent[d] < 0 ||
        part.extent[d] > handle_.shape[d] - part.begin[d])
      return Status::invalid("the part of " + textOf(part.extent) + " from " + textOf(part.begin) +
                             " on is not inside " + textOf(handle_.shape));
  if (local.dtype != handle_.dtype)
    return Status::invalid(std::string("it has elements of type ") + dtypeName(handle_.dtype) +
                           ", the local tensor of " + dtypeName(local.dtype));
  if (local.shape != part.extent)
    return Status::invalid("it has the shape " + textOf(part.extent) + ", the local tensor " +
                           textOf(local.shape));
  Result<CheckedView> checked = checkView(local, /*written=*/reads);
  if (!checked)
    return checked.status().annotate("the local tensor");
  Result<std::vector<StridedBox>> boxes = boxesOf(handle_, part, checked->view, reads);
  if (!boxes)
    return boxes.status();
  std::unique_ptr<PreparedAccess> made(
      new PreparedAccess(shared_from_this(), boxes.take(), *checked, reads));
  COLL_RETURN_IF_ERROR(made->choose(access.via));
  return made;
}

PreparedAccess::PreparedAccess(std::shared_ptr<RemoteTensor> tensor, std::vector<StridedBox> boxes,
                               const CheckedView &local, bool reads)
    : tensor_(std::move(tensor)), boxes_(std::move(boxes)), local_(local), reads_(reads),
      own_(memoryAt(tensor_->options_.gpu, local.view.data)), memory_(local.view.memory) {}

PreparedAccess::~PreparedAccess() {
  if (registered_)
    tensor_->options_.transport->deregMr(registered_);
}

Status PreparedAccess::choose(Via wanted) {
  via_ = wanted == Via::Rdma ? Via::Rdma : Via::Ipc;
  if (wanted == Via::Rdma)
    return prepareRdma();
  const Status ipc = prepareIpc();
  // If this process cannot map it, the network may still reach it, unless the owner refuses.
  const bool mayBeElsewhere =
      ipc.code() == kCollLink || ipc.code() == kCollUnsupported || ipc.code() == kCollDevice;
  if (wanted == Via::Ipc || !mayBeElsewhere)
    return ipc;
  via_ = Via::Rdma;
  const Status rdma = prepareRdma();
  if (rdma.ok())
    return rdma;
  return {rdma.code() == kCollUnsupported ? ipc.code() : rdma.code(),
          "it cannot be reached: " + ipc.message() + "; " + rdma.message()};
}

Status PreparedAccess::prepareIpc() {
  if (tensor_->handle_.socket.empty())
    return {kCollUnsupported, "its owner has not enabled ipc"};
  COLL_RETURN_IF_ERROR(tensor_->map().annotate("ipc"));
  const bool isOnGpu = tensor_->mapping_->gpu != nullptr;
  if (boxes_.empty() || isOnGpu == (own_.gpu != nullptr))
    return {};
  return {kCollUnsupported, isOnGpu ? "ipc: the tensor is memory of a GPU, the local one is not"
                                    : "ipc: the local tensor is memory of a GPU, it is not"};
}

Status PreparedAccess::prepareRdma() {
  const TensorHandle &handle = tensor_->handle_;
  const RemoteTensorsOptions &options = tensor_->options_;
  if (!options.transport)
    return {kCollUnsupported, "this process has given no transport"};
  if (handle.transport.empty())
    return {kCollUnsupported, "its owner has not enabled rdma"};
  if (handle.transport != options.transport->name())
    return {kCollUnsupported, "it is reached over " + handle.transport + ", and this process has " +
                                  options.transport->name()};
  COLL_RETURN_IF_ERROR(tensor_->connections_->get(handle.listener).status().annotate("rdma"));
  isServed_ = handle.memory.key == 0 || isBetterServed();
  if (!isServed_ && !memory_ && local_.span > 0) {
    // Transports keep resources that are expensive to create.
    Result<net::Memory *> made =
        registerReached(*options.transport, options.device, own_, local_.span);
    if (!made)
      return made.status().annotate("rdma: the local tensor");
    memory_ = registered_ = *made;
  }
  isServed_ |= own_.gpu && (!memory_ || memory_->remoteKey().key == 0);
  return {};
}

// Whether the access takes many requests of few bytes. Devices that reach GPU memory move bytes
// without a processor; others do not.
bool PreparedAccess::isBetterServed() const {
  const RemoteTensorsOptions &options = tensor_->options_;
  const net::DeviceProperties &device =
      options.transport->devices()[static_cast<size_t>(options.device)];
  return !(device.memoryKinds & static_cast<uint32_t>(net::MemoryKind::Dmabuf)) &&
         isScattered(reads_ ? Direction::Read : Direction::Write, boxes_, own_.data,
                     device.maxSegments);
}

//===-- the access ------------------------------------------------------------------===//

Status PreparedAccess::run() {
  return tensor_->named(via_ == Via::Ipc ? byIpc() : byRdma(), reads_);
}

Status PreparedAccess::byIpc() {
  COLL_RETURN_IF_ERROR(tensor_->map().annotate("ipc"));
  const RemoteTensor::Mapping &mapping = *tensor_->mapping_;
  char *src = reads_ ? mapping.data : own_.data, *dst = reads_ ? own_.data : mapping.data;
  if (!mapping.gpu) {
    for (const StridedBox &box : boxes_)
      copyBox(box, src, dst);
    return {};
  }
  const dl::GpuContext &gpu = *mapping.gpu;
  dl::CudaScope scope(gpu.cuda(), gpu.context());
  COLL_RETURN_IF_ERROR(scope.status());
  for (const StridedBox &box : boxes_)
    COLL_RETURN_IF_ERROR(copyByEngine(gpu, box, src, dst, mapping.stream));
  return gpu.check(gpu.cuda().streamSynchronize(mapping.stream), "cuStreamSynchronize");
}

Status PreparedAccess::byRdma() {
  const TensorHandle &handle = tensor_->handle_;
  OwnerConnections &connections = *tensor_->connections_;
  Result<OwnerLink *> link = connections.get(handle.listener);
  if (!link)
    return link.status().annotate("rdma");
  const Status status = isServed_ ? byOwner(**link) : byOneSided(**link);
  // A refusal concerns only this request. Every other failure has ended the connection, or must end
  // it so that the buffers are free.
  if (!status.ok() && status.code() != kCollInvalidCall)
    connections.drop(handle.listener);
  return status.annotate("rdma");
}

Status PreparedAccess::byOneSided(OwnerLink &link) {
  const TensorHandle &handle = tensor_->handle_;
  const RemoteTensorsOptions &options = tensor_->options_;
  if (handle.memory.bytes < static_cast<uint64_t>(handle.span()))
    return Status::invalid("the handle's memory is smaller than its tensor");
  const net::DeviceProperties &device =
      options.transport->devices()[static_cast<size_t>(options.device)];
  OneSided moves(reads_ ? Direction::Read : Direction::Write, *link.connection, handle.memory,
                 own_.data, memory_, device.maxSegments, options.timeoutUs);
  Status status;
  for (const StridedBox &box : boxes_)
    if (status.ok())
      status = moves.move(box);
  Status finished = moves.finish();
  if (status.ok() || finished.code() == kCollTimeout)
    status = finished;
  if (!status.ok() || !reads_ || !device.needsFlush || local_.span == 0)
    return status;
  const net::Segment all = {own_.data, static_cast<uint64_t>(local_.span), memory_};
  Result<net::Request *> flush = link.connection->iflush(&all, 1);
  if (!flush || !*flush)
    return flush ? Status(kCollTimeout, "the connection accepts no request") : flush.status();
  return net::wait(*link.connection, *flush, options.timeoutUs).status();
}

Status PreparedAccess::byOwner(OwnerLink &link) {
  const TensorHandle &handle = tensor_->handle_;
  Result<ChunkLane *> lane = tensor_->connections_->lane();
  if (!lane)
    return lane.status();
  const ServedAccess access = {handle.id, handle.key, tensor_->handleSum_, reads_,
                               tensor_->options_.timeoutUs};
  Status status;
  for (const StridedBox &box : boxes_)
    if (status.ok())
      status = moveServed(link, **lane, access, box, own_);
  // Copies into the local tensor end before the caller may use it.
  (*lane)->drain();
  return status;
}

} // namespace coll::rt::exchange
