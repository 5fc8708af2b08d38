// The life of a connection: creation, connecting, ending.

#include "runtime/net/verbs/endpoint.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>

namespace coll::net::verbs {

using rt::dl::ibverbsError;

namespace {

constexpr uint8_t kMaxReads = 16;
// How long sends in flight may take after the peer has closed.
constexpr int64_t kEndingUs = 1'000'000;
constexpr int64_t kTurnUs = 1'000; // one turn of the progress thread, for one connection

uint8_t boundedReads(int reads) { return static_cast<uint8_t>(std::clamp(reads, 1, +kMaxReads)); }

} // namespace

// One of the endpoint's two descriptors, as its poller sees it.
class Endpoint::Watch final : public PollHandler {
public:
  Watch(std::shared_ptr<Endpoint> endpoint, bool isTcp)
      : endpoint_(std::move(endpoint)), isTcp_(isTcp) {}
  void onEvents(uint32_t) override { isTcp_ ? endpoint_->onTcp() : endpoint_->onChannel(); }
  void onDeadline() override { endpoint_->onTcpDeadline(); }

private:
  std::shared_ptr<Endpoint> endpoint_;
  bool isTcp_;
};

//===-- making ------------------------------------------------------------------===//

Result<std::shared_ptr<Endpoint>> Endpoint::create(Shared &shared, const Rail &rail, int queues) {
  std::shared_ptr<Endpoint> self(new Endpoint(shared, rail));
  self->properties_ = shared.properties[static_cast<size_t>(&rail - shared.rails.data())];
  Result<Port> port = rail.device->queryPort(rail.port, shared.options.gidIndex);
  if (!port.ok())
    return port.status();
  self->port_ = *port;
  self->number_ = rail.device->join(rail.port, self);
  COLL_RETURN_IF_ERROR(self->createQueues(queues));
  COLL_RETURN_IF_ERROR(self->createBuffers());
  return self;
}

Status Endpoint::createQueues(int queues) {
  const ibv_device_attr &limits = device_.attributes();
  errno = 0;
  channel_ = api_.createCompChannel(device_.context());
  if (!channel_)
    return ibverbsError("a completion channel on " + device_.name(), errno ? errno : ENOMEM);
  int flags = fcntl(channel_->fd, F_GETFL);
  if (flags < 0 || fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return ibverbsError("a completion channel on " + device_.name(), errno);
  uint32_t entries =
      2 * kSlots + static_cast<uint32_t>(queues) * (kDataSends + kMaxRequests) + kDataSends;
  if (limits.max_cqe > 0 && entries > static_cast<uint32_t>(limits.max_cqe))
    return {kCollUnsupported, device_.name() + " has completion queues of " +
                                  std::to_string(limits.max_cqe) + " entries only"};
  int vectors = std::max(1, device_.context()->num_comp_vectors);
  errno = 0;
  cq_ = api_.createCq(device_.context(), static_cast<int>(entries),
                      reinterpret_cast<void *>(static_cast<uintptr_t>(number_)), channel_,
                      static_cast<int>(number_ % static_cast<uint64_t>(vectors)));
  if (!cq_)
    return ibverbsError("a completion queue on " + device_.name(), errno ? errno : ENOMEM);
  maxSegments_ = std::clamp(limits.max_sge, 1, kMaxSegments);
  // One more segment, for the header of a message whose payload the device reads itself.
  auto controlSegments = static_cast<uint32_t>(std::clamp(limits.max_sge, 1, kMaxSegments + 1));
  Result<std::unique_ptr<QueuePair>> control = QueuePair::create(
      device_, portNumber_, cq_, number_, {kSlots, kSlots, controlSegments, kInlineBytes});
  if (!control.ok())
    return control.status();
  control_ = control.take();
  for (int i = 0; i < queues; ++i) {
    Result<std::unique_ptr<QueuePair>> pair =
        QueuePair::create(device_, portNumber_, cq_, number_,
                          {kDataSends, kMaxRequests, static_cast<uint32_t>(maxSegments_), 0});
    if (!pair.ok())
      return pair.status();
    data_.emplace_back().pair = pair.take();
  }
  return {};
}

Status Endpoint::createBuffers() {
  bufferBytes_ = 2 * kSlots * kSlotBytes;
  void *memory =
      mmap(nullptr, bufferBytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return {kCollDevice, "no memory for the buffers of a connection"};
  buffers_ = static_cast<uint8_t *>(memory);
  errno = 0;
  bufferMr_ = api_.regMr(device_.pd(), buffers_, bufferBytes_, IBV_ACCESS_LOCAL_WRITE);
  if (!bufferMr_)
    return ibverbsError("registering the buffers of a connection on " + device_.name(),
                        errno ? errno : ENOMEM);
  for (uint32_t slot = 0; slot < kSlots; ++slot)
    COLL_RETURN_IF_ERROR(postSlot(slot));
  for (uint32_t slot = 2 * kSlots; slot-- > kSlots;)
    freeSlots_.push_back(slot);
  slotRequest_.resize(2 * size_t(kSlots));
  if (int error = api_.reqNotifyCq(cq_, 0))
    return ibverbsError("a completion queue on " + device_.name(), error);
  return {};
}

Endpoint::~Endpoint() {
  if (!over_)
    teardown();
  device_.leave(number_);
  if (cq_)
    api_.destroyCq(cq_);
  if (channel_)
    api_.destroyCompChannel(channel_);
  for (ibv_mr *mr : {bufferMr_, mirrorMr_})
    if (mr)
      api_.deregMr(mr);
  if (buffers_)
    munmap(buffers_, bufferBytes_);
}

SetupInfo Endpoint::setupInfo() const {
  SetupInfo info;
  std::copy(port_.gid.raw, port_.gid.raw + info.gid.size(), info.gid.begin());
  info.lid = port_.attributes.lid;
  info.linkLayer = port_.attributes.link_layer;
  info.mtu = static_cast<uint8_t>(port_.attributes.active_mtu);
  info.maxReads = boundedReads(device_.attributes().max_qp_rd_atom);
  info.queues = static_cast<uint8_t>(data_.size());
  info.slots = kSlots;
  info.queue[0] = {control_->number(), control_->firstPacket()};
  for (size_t i = 0; i < data_.size(); ++i)
    info.queue[i + 1] = {data_[i].pair->number(), data_[i].pair->firstPacket()};
  return info;
}

Status Endpoint::connect(const SetupInfo &peer) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (peer.linkLayer != port_.attributes.link_layer)
    return {kCollPeer, "one end is on InfiniBand, the other on Ethernet"};
  data_.resize(std::min<size_t>(data_.size(), peer.queues));
  uint8_t theirs = boundedReads(device_.attributes().max_qp_rd_atom);
  uint8_t ours =
      boundedReads(std::min<int>(peer.maxReads, device_.attributes().max_qp_init_rd_atom));
  COLL_RETURN_IF_ERROR(
      control_->connect(port_, portNumber_, peer, 0, shared_.options, theirs, ours));
  for (size_t i = 0; i < data_.size(); ++i)
    COLL_RETURN_IF_ERROR(data_[i].pair->connect(port_, portNumber_, peer, static_cast<int>(i) + 1,
                                                shared_.options, theirs, ours));
  credits_ = peerSlots_ = peer.slots;
  return {};
}

Status Endpoint::start(Fd tcp) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (over_) // the device failed meanwhile
    return failure_;
  setStreamOptions(tcp, shared_.options.timeoutUs);
  tcp_ = std::move(tcp);
  tcpId_ = poller_.reserve();
  channelId_ = poller_.reserve();
  Status added = poller_.add(channelId_, channel_->fd, EPOLLIN,
                             std::make_shared<Watch>(shared_from_this(), false));
  if (added.ok())
    added =
        poller_.add(tcpId_, tcp_.get(), EPOLLIN, std::make_shared<Watch>(shared_from_this(), true));
  if (!added.ok())
    fail(added);
  return added;
}

//===-- waiting -----------------------------------------------------------------===//

// Polls a little longer before the thread sleeps again, because answers arrive soon.
void Endpoint::onChannel() {
  ibv_cq *cq = nullptr;
  void *ignored = nullptr;
  while (api_.getCqEvent(channel_, &cq, &ignored) == 0)
    api_.ackCqEvents(cq, 1);
  bool isArmed = false;
  // Other connections need the thread, too. A later completion causes an event.
  const int64_t endUs = nowUs() + kTurnUs;
  for (int64_t idleUs = nowUs();
       (nowUs() - idleUs <= shared_.options.spinUs && nowUs() < endUs) || !isArmed;) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (over_)
        return;
      // From here on a completion causes a new event; earlier completions are polled now.
      if (!isArmed && api_.reqNotifyCq(cq_, 0) != 0)
        return fail({kCollDevice, device_.name() + ": a completion queue cannot be waited for"});
      isArmed = true;
      if (progress())
        idleUs = nowUs();
    }
    std::this_thread::yield();
  }
}

void Endpoint::onTcp() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (over_)
    return;
  uint8_t byte = 0;
  ssize_t count = ::recv(tcp_.get(), &byte, 1, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (count == 0 && ending_)
    return poller_.modify(tcpId_, tcp_.get(), 0);
  if (lingering_)
    return teardown();
  // Messages that the peer sent before it ended are in the completion queue.
  while (!over_ && progress())
    continue;
  if (over_)
    return;
  if (count == 1 && byte == kByeByte) {
    ending_ = true;
    poller_.setDeadline(tcpId_, nowUs() + kEndingUs);
    progress();
  } else if (count == 1 && byte == kFailedByte) {
    fail({kCollPeer, "the connection has failed at the peer's end; its error says why"});
  } else if (count == 1) {
    fail({kCollPeer,
          byte == kGoneByte ? "the peer closed the connection" : "protocol: an unknown byte"});
  } else if (count == 0) {
    fail({kCollPeer, "the peer's process has ended"});
  } else {
    fail(linkError("the connection beside the queue pairs", errno));
  }
}

void Endpoint::onTcpDeadline() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (over_)
    return;
  if (lingering_)
    return teardown();
  fail({kCollPeer, "the peer closed the connection"});
}

void Endpoint::onDeviceError(const Status &why) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!over_)
    fail(why);
}

//===-- the end -----------------------------------------------------------------===//

Status Endpoint::refusal() const {
  if (closed_)
    return {kCollAborted, "the connection was closed"};
  if (failure_.ok() && ending_)
    return {kCollPeer, "the peer closed the connection"};
  return failure_;
}

// Afterwards the device uses no buffer.
void Endpoint::teardown() {
  over_ = true;
  control_.reset();
  data_.clear();
  mirror_ = DataQueue();
  out_.clear();
  if (tcpId_) {
    poller_.remove(tcpId_, tcp_.get());
    poller_.remove(channelId_, channel_->fd);
  }
  tcp_.reset();
  if (lingering_)
    --shared_.lingering;
  lingering_ = false;
}

void Endpoint::failAll(const Status &why) {
  posted_.clear();
  for (Pool *pool : {&outbound_, &inbound_})
    pool->failAll(why);
}

void Endpoint::fail(const Status &why) {
  if (over_)
    return;
  failure_ = why.annotate("verbs " + properties_.name);
  if (tcp_.valid())
    (void)!::send(tcp_.get(), &kFailedByte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  teardown();
  failAll(failure_);
}

// Queue pairs whose work uses only the connection's own buffers are kept for a while, so that the
// peer's device receives its acknowledgements.
void Endpoint::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_)
    return;
  if (!over_)
    progress();
  closed_ = true;
  if (!over_) {
    bool isBusy = false;
    for (Pool *pool : {&outbound_, &inbound_})
      for (const VerbsRequest &request : *pool)
        isBusy |= request.kind != Kind::Free && request.isBusy;
    uint8_t byte = isBusy ? kGoneByte : kByeByte;
    // The peer must not write to application buffers after it has been told of the end.
    if (isBusy) {
      control_.reset();
      data_.clear();
      mirror_ = DataQueue();
    }
    bool isTold = ::send(tcp_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
    if (isBusy || ending_ || !isTold) {
      teardown();
    } else {
      ::shutdown(tcp_.get(), SHUT_WR);
      out_.clear();
      lingering_ = true;
      ++shared_.lingering;
      poller_.setDeadline(tcpId_, nowUs() + kLingerUs);
    }
  }
  failAll({kCollAborted, "the connection was closed"});
}

// A destroyed queue pair accepts no more packets, and has written those that it accepted. So the
// queue pairs are destroyed first, and then the peer is told.
void Endpoint::abort() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  if (!over_) {
    control_.reset();
    data_.clear();
    mirror_ = DataQueue();
    (void)!::send(tcp_.get(), &kFailedByte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    teardown();
  }
  failAll({kCollAborted, "the connection was closed"});
}

} // namespace coll::net::verbs
