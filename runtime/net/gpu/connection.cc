#include "runtime/net/gpu/connection.h"

#include "runtime/base/log.h"

#include <algorithm>

namespace coll::net {

Result<std::shared_ptr<Gpu>> DeviceShared::gpu(int ordinal) {
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Gpu> &known = gpus[ordinal];
  if (known)
    return known;
  Result<std::shared_ptr<Gpu>> made = Gpu::get(cuda, ordinal, options.bounceBytes);
  if (made.ok())
    known = *made;
  return made;
}

Result<std::unique_ptr<Connection>> GpuConnection::create(DeviceShared &shared,
                                                          const DeviceProperties &properties,
                                                          std::unique_ptr<Connection> inner,
                                                          Role role) {
  std::unique_ptr<GpuConnection> connection(
      new GpuConnection(shared, properties, std::move(inner)));
  COLL_RETURN_IF_ERROR(connection->makeHandles(role));
  COLL_RETURN_IF_ERROR(connection->greeting_.start(*connection->inner_, shared.options.scatter));
  return std::unique_ptr<Connection>(std::move(connection));
}

Status GpuConnection::makeHandles(Role role) {
  const DeviceOptions &options = shared_.options;
  bool unpacks = options.unpacks() && (role == Role::Accepted || options.unpackOnConnect);
  if (!unpacks && options.send != SendPath::Pack)
    return {};
  int ordinal = options.gpu >= 0 ? options.gpu : Gpu::current(shared_.cuda);
  Result<std::shared_ptr<Gpu>> gpu = shared_.gpu(ordinal);
  if (!gpu.ok())
    return gpu.status();
  gpu_ = gpu.take();
  if (unpacks) {
    Result<std::unique_ptr<BouncePool::Account>> account = gpu_->bounce().open(options.roomBytes);
    if (!account.ok())
      return account.status();
    receives_ = account.take();
    Result<std::unique_ptr<UnpackSlots>> slots = UnpackSlots::create(gpu_, *receives_);
    if (!slots.ok())
      return slots.status();
    unpack_ = slots.take();
  }
  if (options.send == SendPath::Pack) {
    Result<std::unique_ptr<BouncePool::Account>> account = gpu_->bounce().open(options.roomBytes);
    if (!account.ok())
      return account.status();
    sends_ = account.take();
    Result<std::unique_ptr<PackSlots>> slots = PackSlots::create(gpu_);
    if (!slots.ok())
      return slots.status();
    pack_ = slots.take();
  }
  return {};
}

GpuConnection::~GpuConnection() { close(); }

void GpuConnection::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_)
    return;
  closed_ = true;
  if (ended_.ok())
    ended_ = {kCollAborted, "the connection was closed"};
  // From here on the transport below uses no block.
  inner_->close();
  for (const std::unique_ptr<GpuRequest> &request : requests_) {
    request->copy.wait();
    if (request->blocks.count > 0)
      request->blocks.give(request->kind == GpuRequest::Kind::Send ? *sends_ : *receives_);
  }
  waiting_.clear();
  if (unpack_)
    unpack_->close();
}

void GpuConnection::end(const Status &why) {
  if (!ended_.ok())
    return;
  ended_ = why;
  rt::log(rt::LogLevel::Error, "a connection ends: " + why.message());
  inner_->close();
}

GpuRequest &GpuConnection::newRequest(GpuRequest::Kind kind) {
  if (free_.empty()) {
    requests_.push_back(std::make_unique<GpuRequest>());
    free_.push_back(requests_.back().get());
  }
  GpuRequest &request = *free_.back();
  free_.pop_back();
  request.reset(kind);
  if (kind == GpuRequest::Kind::Send)
    ++outbound_;
  return request;
}

void GpuConnection::release(GpuRequest &request) {
  bool send = request.kind == GpuRequest::Kind::Send;
  if (request.blocks.count > 0)
    request.blocks.give(send ? *sends_ : *receives_);
  if (send) {
    --outbound_;
    if (request.path == GpuRequest::Path::Kernel && request.slot >= 0)
      pack_->finish(static_cast<uint64_t>(request.slot));
  }
  free_.push_back(&request);
}

Result<Request *> GpuConnection::posted(GpuRequest &request, const Result<Request *> &inner) {
  if (inner.ok() && *inner) {
    request.inner = *inner;
    return static_cast<Request *>(&request);
  }
  release(request);
  return inner.ok() ? refuse() : inner.status();
}

Result<Request *> GpuConnection::refuse() {
  shared_.counters.refused.add(1);
  return static_cast<Request *>(nullptr);
}

Status GpuConnection::progress() {
  if (ended_.ok() && !greeting_.over()) {
    Status greeted = greeting_.progress(*inner_);
    if (!greeted.ok())
      end(greeted);
  }
  if (ended_.ok())
    postSends();
  return ended_;
}

uint64_t GpuConnection::tagBelow(uint64_t tag) const {
  return shared_.options.scatter ? tag ^ kScatterTagBit : tag;
}

Status GpuConnection::check(const Segment *segments, int count) const {
  Result<uint64_t> bytes = totalBytes(segments, count, properties_);
  return bytes.ok() ? Status() : bytes.status();
}

Status GpuConnection::checkDevice(const Segment *segments, int count) const {
  if (count != 1)
    return Status::invalid("a request of GPU memory has one buffer, not " + std::to_string(count));
  const DeviceMemory &memory = *deviceMemory(*segments);
  if (!memory.holds(*segments))
    return Status::invalid("a buffer is outside the memory that was registered");
  if (segments->bytes > kMaxDeviceMessageBytes)
    return Status::invalid("a message of GPU memory has at most " +
                           std::to_string(kMaxDeviceMessageBytes) + " bytes, not " +
                           std::to_string(segments->bytes));
  if (gpu_ && memory.gpu != gpu_)
    return Status::invalid("memory of GPU " + std::to_string(memory.gpu->ordinal()) +
                           " on a connection that serves GPU " + std::to_string(gpu_->ordinal()));
  return {};
}

Result<bool> GpuConnection::takeBlocks(GpuRequest &request, uint64_t bytes) {
  bool send = request.kind == GpuRequest::Kind::Send;
  std::unique_ptr<BouncePool::Account> &account = send ? sends_ : receives_;
  if (!account) {
    Result<std::unique_ptr<BouncePool::Account>> opened =
        request.gpu->bounce().open(shared_.options.roomBytes);
    if (!opened.ok())
      return opened.status();
    gpu_ = request.gpu;
    account = opened.take();
  }
  return request.blocks.take(*account, bytes, shared_.options.scatter);
}

Result<Request *> GpuConnection::iwrite(const Segment *segments, int count, const RemoteKey &key,
                                        uint64_t offset) {
  return oneSided(segments, count, key, offset, /*write=*/true);
}

Result<Request *> GpuConnection::iread(const Segment *segments, int count, const RemoteKey &key,
                                       const RemoteRows &rows) {
  return oneSided(segments, count, key, rows, /*write=*/false);
}

Result<Request *> GpuConnection::oneSided(const Segment *segments, int count, const RemoteKey &key,
                                          const RemoteRows &rows, bool write) {
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(progress());
  COLL_RETURN_IF_ERROR(check(segments, count));
  for (const Segment *segment = segments; segment < segments + count; ++segment)
    if (isCuda(*segment) && !deviceMemory(*segment)->inner)
      return Status(kCollUnsupported, "the transport cannot read or write GPU memory itself");
  GpuRequest &request = newRequest(GpuRequest::Kind::Pass);
  translate(segments, count, request.segments);
  return posted(request, write ? inner_->iwrite(request.segments.data(), count, key, rows.offset)
                               : inner_->iread(request.segments.data(), count, key, rows));
}

Result<Request *> GpuConnection::iflush(const Segment *segments, int count) {
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(progress());
  COLL_RETURN_IF_ERROR(check(segments, count));
  bool untouched = std::any_of(segments, segments + count, [](const Segment &segment) {
    return isCuda(segment) && !deviceMemory(segment)->inner;
  });
  // Copies and kernels made their data visible when they ended.
  GpuRequest &request = newRequest(untouched ? GpuRequest::Kind::Flushed : GpuRequest::Kind::Pass);
  if (untouched) {
    request.bytes = *totalBytes(segments, count, properties_);
    return static_cast<Request *>(&request);
  }
  translate(segments, count, request.segments);
  return posted(request, inner_->iflush(request.segments.data(), count));
}

Result<Completion> GpuConnection::test(Request *opaque) {
  auto &request = *static_cast<GpuRequest *>(opaque);
  std::lock_guard<std::mutex> lock(mutex_);
  (void)progress(); // if the connection has ended, the request reports it
  switch (request.kind) {
  case GpuRequest::Kind::Receive:
    return testReceive(request);
  case GpuRequest::Kind::Send:
    return testSend(request);
  case GpuRequest::Kind::Flushed: {
    Completion completion{true, request.bytes};
    release(request);
    return completion;
  }
  case GpuRequest::Kind::Pass:
    break;
  }
  Result<Completion> completion = testBelow(request);
  if (!completion.ok() || completion->done)
    release(request);
  return completion;
}

int GpuConnection::parts(const Request *opaque, MessagePart *out, int max) const {
  const auto &request = *static_cast<const GpuRequest *>(opaque);
  std::lock_guard<std::mutex> lock(mutex_);
  return request.inner ? inner_->parts(request.inner, out, max) : 0;
}

// The transport below only knows that it was closed.
Result<Completion> GpuConnection::testBelow(GpuRequest &request) {
  Result<Completion> completion = inner_->test(request.inner);
  if (!completion.ok() && !ended_.ok() && !closed_)
    return ended_;
  return completion;
}

} // namespace coll::net
