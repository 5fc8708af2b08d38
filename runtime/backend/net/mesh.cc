#include "runtime/backend/net/mesh.h"

namespace coll::rt::network {

//===-- one connection ----------------------------------------------------------===//

Link::Link(int rank, std::unique_ptr<net::Connection> connection)
    : rank_(rank), connection_(std::move(connection)), recvs_(kControlDepth) {}

Result<net::Request *> Link::send(const net::Segment *segments, int count, uint64_t tag) {
  Result<net::Request *> request = connection_->isend(segments, count, tag);
  if (request.ok() && *request)
    ++sent_;
  return request;
}

Result<net::Request *> Link::recv(const net::Segment &segment, uint64_t tag) {
  return connection_->irecv(&segment, 1, tag);
}

Result<net::Completion> Link::test(net::Request *request, bool isRecv) {
  Result<net::Completion> completion = connection_->test(request);
  if (isRecv && completion.ok() && completion->done)
    ++received_;
  return completion;
}

//===-- set-up ------------------------------------------------------------------===//

Result<std::unique_ptr<Mesh>> Mesh::create(net::Transport &transport, int rank, int numRanks) {
  std::unique_ptr<Mesh> mesh(new Mesh(transport, rank, numRanks));
  Result<std::unique_ptr<net::Listener>> listener = transport.listen(0);
  if (!listener)
    return listener.status();
  mesh->listener_ = listener.take();
  return mesh;
}

Mesh::~Mesh() { close(); }

Status Mesh::connect(const std::vector<net::Handle> &handles) {
  for (int rank = 0; rank < rank_; ++rank) {
    Result<std::unique_ptr<net::Connector>> connector =
        transport_.connect(0, handles[static_cast<size_t>(rank)]);
    if (!connector)
      return connector.status().annotate("rank " + std::to_string(rank));
    connecting_.emplace_back();
    connecting_.back().rank = rank;
    connecting_.back().connector = connector.take();
  }
  return {};
}

Result<bool> Mesh::advance() {
  COLL_RETURN_IF_ERROR(advanceGuests());
  for (auto it = connecting_.begin(); it != connecting_.end();) {
    Result<bool> done = advanceConnecting(*it);
    if (!done)
      return done.status().annotate("connection to rank " + std::to_string(it->rank));
    if (!*done) {
      ++it;
      continue;
    }
    COLL_RETURN_IF_ERROR(adopt(it->rank, std::move(it->connection)));
    it = connecting_.erase(it);
  }
  return connected_ == numRanks() - 1;
}

Status Mesh::advanceGuests() {
  for (;;) {
    Result<std::unique_ptr<net::Connection>> accepted = listener_->accept();
    if (!accepted)
      return accepted.status();
    if (!*accepted)
      break;
    guests_.emplace_back();
    guests_.back().connection = accepted.take();
    guests_.back().bytes.resize(Hello::kBytes);
  }
  for (auto it = guests_.begin(); it != guests_.end();) {
    Result<bool> done = greet(*it);
    if (!done)
      return done.status();
    it = *done ? guests_.erase(it) : std::next(it);
  }
  return {};
}

// True once the connection has become the rank's link.
Result<bool> Mesh::greet(Guest &guest) {
  net::Connection &connection = *guest.connection;
  if (!guest.request) {
    net::Segment segment = {guest.bytes.data(), guest.bytes.size(), nullptr};
    Result<net::Request *> request = connection.irecv(&segment, 1, kHelloTag);
    if (!request)
      return request.status();
    guest.request = *request;
  }
  if (!guest.request)
    return false;
  Result<net::Completion> completion = connection.test(guest.request);
  if (!completion)
    return completion.status();
  if (!completion->done)
    return false;
  std::optional<Hello> hello = decodeHello(guest.bytes.data(), completion->bytes);
  int rank = hello && hello->rank < links_.size() ? static_cast<int>(hello->rank) : -1;
  if (rank <= rank_ || links_[static_cast<size_t>(rank)])
    return Status(kCollPeer, "a connection that claims to be of rank " + std::to_string(rank));
  COLL_RETURN_IF_ERROR(adopt(rank, std::move(guest.connection)));
  return true;
}

Result<bool> Mesh::advanceConnecting(Connecting &connecting) {
  if (!connecting.connection) {
    Result<std::unique_ptr<net::Connection>> made = connecting.connector->poll();
    if (!made)
      return made.status();
    if (!*made)
      return false;
    connecting.connection = made.take();
    connecting.hello = encode(Hello{static_cast<uint32_t>(rank_)});
  }
  if (!connecting.request) {
    net::Segment segment = {connecting.hello.data(), connecting.hello.size(), nullptr};
    Result<net::Request *> request = connecting.connection->isend(&segment, 1, kHelloTag);
    if (!request)
      return request.status();
    connecting.request = *request;
  }
  if (!connecting.request)
    return false;
  Result<net::Completion> completion = connecting.connection->test(connecting.request);
  if (!completion)
    return completion.status();
  return completion->done;
}

Status Mesh::adopt(int rank, std::unique_ptr<net::Connection> connection) {
  auto link = std::make_unique<Link>(rank, std::move(connection));
  for (Link::ControlRecv &recv : link->recvs_) {
    net::Segment segment = {recv.bytes.data(), recv.bytes.size(), nullptr};
    Result<net::Request *> request = link->connection_->irecv(&segment, 1, kControlTag);
    if (!request)
      return request.status();
    recv.request = *request;
  }
  links_[static_cast<size_t>(rank)] = std::move(link);
  ++connected_;
  return {};
}

std::vector<int> Mesh::missing() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < numRanks(); ++rank)
    if (rank != rank_ && !links_[static_cast<size_t>(rank)])
      ranks.push_back(rank);
  return ranks;
}

//===-- control messages --------------------------------------------------------===//

// The caller holds the lock. A message that cannot be sent is lost with its connection, and the
// peer sees the connection's end.
void Mesh::postControl(Link &link, const Control &control) {
  link.sends_.remove_if([&](Link::ControlSend &old) {
    Result<net::Completion> completion = link.connection_->test(old.request);
    return !completion.ok() || completion->done;
  });
  link.sends_.emplace_back();
  Link::ControlSend &send = link.sends_.back();
  send.bytes = encode(control);
  net::Segment segment = {send.bytes.data(), send.bytes.size(), nullptr};
  Result<net::Request *> request = link.connection_->isend(&segment, 1, kControlTag);
  send.request = request.ok() ? *request : nullptr;
  if (!send.request)
    link.sends_.pop_back();
}

void Mesh::sendLeft(uint64_t epoch) {
  std::lock_guard<std::mutex> lock(mutex_);
  Control control;
  control.epoch = epoch;
  for (const std::unique_ptr<Link> &link : links_) {
    if (!link || closed_)
      continue;
    control.sent = link->sent_;
    postControl(*link, control);
  }
}

void Mesh::sendAbort(const Status &cause, uint64_t key) {
  std::lock_guard<std::mutex> lock(mutex_);
  Control control;
  control.type = Control::Type::Abort;
  control.cause = cause;
  control.key = key;
  for (const std::unique_ptr<Link> &link : links_)
    if (link && !closed_)
      postControl(*link, control);
  transport_.hurry();
}

std::optional<Control> Mesh::poll() {
  for (const std::unique_ptr<Link> &link : links_)
    if (link)
      if (std::optional<Control> abort = poll(*link))
        return abort;
  return std::nullopt;
}

std::optional<Control> Mesh::poll(Link &link) {
  while (!link.down_ && !closed_) {
    Link::ControlRecv &recv = link.recvs_[link.nextRecv_];
    Result<net::Completion> completion = link.connection_->test(recv.request);
    if (completion.ok() && !completion->done)
      return std::nullopt;
    std::optional<Control> control;
    if (completion.ok())
      control = decodeControl(recv.bytes.data(), completion->bytes);
    recv.request = nullptr;
    net::Segment segment = {recv.bytes.data(), recv.bytes.size(), nullptr};
    Result<net::Request *> again = link.connection_->irecv(&segment, 1, kControlTag);
    link.down_ = !control || !again.ok() || !*again;
    if (again.ok())
      recv.request = *again;
    link.nextRecv_ = (link.nextRecv_ + 1) % link.recvs_.size();
    if (control && control->type == Control::Type::Abort)
      return control;
    if (control) {
      link.leftEpoch_ = control->epoch;
      link.sentAtLeave_ = control->sent;
    }
  }
  return std::nullopt;
}

void Mesh::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_)
    return;
  closed_ = true;
  connecting_.clear();
  guests_.clear();
  for (const std::unique_ptr<Link> &link : links_)
    if (link)
      link->connection_->close();
}

} // namespace coll::rt::network
