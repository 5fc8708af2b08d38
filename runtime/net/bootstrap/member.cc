#include "runtime/net/bootstrap/member.h"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace coll::net {

void BootstrapServer::Member::onEvents(uint32_t events) {
  bool alive = (events & EPOLLOUT) ? flush() : true;
  // Nothing is read while a request is in progress: a correct peer sends nothing then, and no peer
  // can make the server hold more than one of its requests.
  if (alive && (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)))
    alive = readRequest();
  if (!alive)
    server_.lose(*this, /*left=*/false);
}

bool BootstrapServer::Member::readRequest() {
  char buffer[4096];
  for (int turn = 0; turn < 64; ++turn) {
    ssize_t count = ::recv(fd_.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN)
      return true;
    if (count <= 0)
      return false;
    if (!take(buffer, static_cast<size_t>(count)))
      return false;
    if (request_.op == wire::BootOp::Leave && waiting_) {
      server_.lose(*this, /*left=*/true);
      return true;
    }
  }
  return true;
}

// False if the bytes are not a request.
bool BootstrapServer::Member::take(const char *data, size_t count) {
  if (waiting_ || unsent_)
    return false;
  in_.append(data, count);
  if (in_.size() < wire::BootHeader::kBytes)
    return true;
  std::optional<wire::BootHeader> header =
      wire::decodeBoot(reinterpret_cast<const uint8_t *>(in_.data()), /*isReply=*/false);
  if (!header)
    return false;
  size_t whole = wire::BootHeader::kBytes + header->keyBytes + header->valueBytes;
  if (in_.size() < whole)
    return true;
  if (in_.size() > whole)
    return false;
  request_ = *header;
  key_ = in_.substr(wire::BootHeader::kBytes, header->keyBytes);
  value_ = in_.substr(wire::BootHeader::kBytes + header->keyBytes);
  in_.clear();
  waiting_ = true;
  if (request_.op != wire::BootOp::Leave)
    server_.handle(*this);
  return true;
}

void BootstrapServer::Member::wait() {
  server_.poller_->setDeadline(id_, nowUs() + int64_t(request_.timeoutMs) * 1000);
}

void BootstrapServer::Member::reply(CollCode code, std::string_view value) {
  wire::BootHeader header;
  header.op = request_.op;
  header.code = static_cast<uint8_t>(code);
  header.valueBytes = static_cast<uint32_t>(value.size());
  header.sequence = request_.sequence;
  out_.resize(wire::BootHeader::kBytes);
  encode(header, reinterpret_cast<uint8_t *>(out_.data()));
  out_ += value;
  sent_ = 0;
  waiting_ = false;
  server_.poller_->setDeadline(id_, 0);
  // A failed write causes an event, too.
  flush();
}

// False if the connection is broken.
bool BootstrapServer::Member::flush() {
  while (sent_ < out_.size()) {
    ssize_t count =
        ::send(fd_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno != EAGAIN)
      return false;
    if (count < 0)
      break;
    sent_ += static_cast<size_t>(count);
  }
  bool unsent = sent_ < out_.size();
  if (unsent != unsent_) {
    server_.unsent_ += unsent ? 1 : -1;
    server_.poller_->modify(id_, fd_.get(), unsent ? EPOLLIN | EPOLLOUT : EPOLLIN);
  }
  unsent_ = unsent;
  return true;
}

} // namespace coll::net
