#include "runtime/net/bootstrap/bootstrap.h"

#include "runtime/net/bootstrap/server.h"
#include "runtime/net/handshake.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace coll::net {

namespace {

// Deadline of one attempt to connect and prove the secret: long enough for a slow network, short
// enough that a lost connection is noticed and retried.
constexpr int64_t kAttemptUs = 3'000'000;
// Extra time in which rank 0 reports that a deadline has passed.
constexpr int64_t kGraceUs = 5'000'000;

// Waits until the socket is ready for `events`.
Status await(int fd, short events, int64_t deadlineUs) {
  while (true) {
    const int64_t leftUs = deadlineUs - nowUs();
    pollfd ready = {fd, events, 0};
    // Even after the deadline, bytes that have already arrived count.
    const int64_t waitMs = leftUs > 0 ? std::min<int64_t>(leftUs / 1000 + 1, 60'000) : 0;
    int count = poll(&ready, 1, static_cast<int>(waitMs));
    if (count > 0)
      return {};
    if (count < 0 && errno != EINTR)
      return linkError("poll", errno);
    if (leftUs <= 0)
      return {kCollTimeout, "rank 0 does not answer"};
  }
}

Status sendAll(int fd, std::string_view bytes, int64_t deadlineUs) {
  while (!bytes.empty()) {
    ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0)
      bytes.remove_prefix(static_cast<size_t>(count));
    else if (errno == EAGAIN)
      COLL_RETURN_IF_ERROR(await(fd, POLLOUT, deadlineUs));
    else if (errno != EINTR)
      return {kCollPeer, linkError("rank 0 is gone", errno).message()};
  }
  return {};
}

Status recvAll(int fd, char *data, size_t bytes, int64_t deadlineUs) {
  while (bytes > 0) {
    ssize_t count = ::recv(fd, data, bytes, MSG_DONTWAIT);
    if (count > 0) {
      data += count;
      bytes -= static_cast<size_t>(count);
    } else if (count == 0) {
      return {kCollPeer, "rank 0 has left the job"};
    } else if (errno == EAGAIN) {
      COLL_RETURN_IF_ERROR(await(fd, POLLIN, deadlineUs));
    } else if (errno != EINTR) {
      return {kCollPeer, linkError("rank 0 is gone", errno).message()};
    }
  }
  return {};
}

// Connects and proves the secret, once. A process whose proof was accepted has time until
// `finalUs`: the server admits a rank only once, so it cannot retry.
Status attempt(const Address &address, const Secret &secret, const wire::Context &context,
               int64_t deadlineUs, int64_t finalUs, Fd &out) {
  Result<Fd> fd = startConnect(address);
  if (!fd.ok())
    return fd.status();
  COLL_RETURN_IF_ERROR(await(fd->get(), POLLOUT, deadlineUs));
  COLL_RETURN_IF_ERROR(connectOutcome(fd->get()));
  Handshake shake = Handshake::client(fd.take(), secret, wire::Purpose::Bootstrap, context);
  while (true) {
    Handshake::State state = shake.advance();
    if (state == Handshake::State::Failed)
      return shake.failure();
    if (state == Handshake::State::Done)
      break;
    COLL_RETURN_IF_ERROR(await(shake.fd(), state == Handshake::State::Reading ? POLLIN : POLLOUT,
                               shake.awaitsVerdict() ? finalUs : deadlineUs));
  }
  out = shake.takeFd();
  return {};
}

// The address that rank 0 listens on.
Result<Address> listenAddress(const BootstrapOptions &options) {
  if (!options.address.empty() && options.address.front() != ':')
    return Address::parse(options.address);
  Result<std::vector<Interface>> interfaces = findInterfaces(options.iface);
  if (!interfaces.ok())
    return interfaces.status();
  Result<Address> port = Address::parse("0.0.0.0" + options.address);
  if (!port.ok())
    return port.status();
  Address address = interfaces->front().address;
  address.setPort(port->port());
  return address;
}

} // namespace

Bootstrap::Bootstrap(const BootstrapOptions &options)
    : rank_(options.rank), worldSize_(options.worldSize) {}

Result<std::unique_ptr<Bootstrap>> Bootstrap::create(const BootstrapOptions &options,
                                                     const Secret &secret) {
  Fd given(options.rank == 0 ? options.listenFd : -1);
  if (options.worldSize < 1 || options.rank < 0 || options.rank >= options.worldSize)
    return Status::invalid("there is no rank " + std::to_string(options.rank) + " of " +
                           std::to_string(options.worldSize));
  std::unique_ptr<Bootstrap> self(new Bootstrap(options));
  bool listens = options.rank == 0 && !given.valid();
  Result<Address> address = listens ? listenAddress(options) : Address::parse(options.address);
  if (!address.ok())
    return address.status().annotate("bootstrap");
  if (options.rank == 0) {
    Result<Fd> fd = listens ? listenOn(*address) : Result<Fd>(std::move(given));
    if (!fd.ok())
      return fd.status().annotate("bootstrap");
    Result<std::unique_ptr<BootstrapServer>> server =
        BootstrapServer::create(fd.take(), options.worldSize, secret);
    if (!server.ok())
      return server.status().annotate("bootstrap");
    self->server_ = server.take();
    *address = self->server_->address();
  }
  self->address_ = address->toString();
  Status joined = self->join(*address, secret, nowUs() + options.timeoutUs);
  if (!joined.ok())
    return joined.annotate("bootstrap at " + self->address_);
  return self;
}

Bootstrap::~Bootstrap() {
  if (fd_.valid() && !broken_)
    (void)call(wire::BootOp::Leave, {}, {}, 0).ok();
}

Status Bootstrap::join(const Address &address, const Secret &secret, int64_t deadlineUs) {
  wire::Context context =
      encode(wire::RankContext{static_cast<uint32_t>(rank_), static_cast<uint32_t>(worldSize_)});
  int64_t pauseUs = 1000;
  while (true) {
    Status outcome = attempt(address, secret, context, std::min(deadlineUs, nowUs() + kAttemptUs),
                             deadlineUs, fd_);
    if (outcome.ok()) {
      setStreamOptions(fd_, 60'000'000);
      return {};
    }
    // A failed link is retried, because rank 0 may be starting or have too many connections. An
    // answer is final.
    if (outcome.code() != kCollLink && outcome.code() != kCollTimeout)
      return outcome;
    if (nowUs() + pauseUs >= deadlineUs)
      return {kCollTimeout,
              "rank " + std::to_string(rank_) + " was not admitted in time: " + outcome.message()};
    std::this_thread::sleep_for(std::chrono::microseconds(pauseUs));
    pauseUs = std::min<int64_t>(pauseUs * 2, 200'000);
  }
}

Result<std::string> Bootstrap::call(wire::BootOp op, std::string_view key, std::string_view value,
                                    int64_t timeoutUs) {
  if (key.size() > wire::kMaxKeyBytes || value.size() > wire::kMaxValueBytes)
    return Status::invalid("a key has at most 256 bytes, a value 65536");
  std::lock_guard<std::mutex> lock(mutex_);
  if (broken_)
    return Status(kCollPeer, "the connection to rank 0 is broken");
  wire::BootHeader header;
  header.op = op;
  header.keyBytes = static_cast<uint16_t>(key.size());
  header.valueBytes = static_cast<uint32_t>(value.size());
  header.timeoutMs = static_cast<uint32_t>(std::clamp<int64_t>(timeoutUs / 1000, 0, 1 << 30));
  header.sequence = ++sequence_;
  std::string message(wire::BootHeader::kBytes, '\0');
  encode(header, reinterpret_cast<uint8_t *>(message.data()));
  message.append(key).append(value);
  int64_t deadlineUs = nowUs() + int64_t(header.timeoutMs) * 1000 + kGraceUs;
  broken_ = true; // until the whole reply has arrived
  COLL_RETURN_IF_ERROR(sendAll(fd_.get(), message, deadlineUs));
  if (op == wire::BootOp::Leave)
    return std::string();

  uint8_t raw[wire::BootHeader::kBytes];
  COLL_RETURN_IF_ERROR(recvAll(fd_.get(), reinterpret_cast<char *>(raw), sizeof(raw), deadlineUs));
  std::optional<wire::BootHeader> reply = wire::decodeBoot(raw, /*isReply=*/true);
  if (!reply || reply->sequence != header.sequence || reply->keyBytes != 0)
    return Status(kCollPeer, "rank 0 sent no reply to this request");
  std::string body(reply->valueBytes, '\0');
  COLL_RETURN_IF_ERROR(recvAll(fd_.get(), body.data(), body.size(), deadlineUs));
  broken_ = false;
  if (reply->code != kCollOk)
    return Status(static_cast<CollCode>(reply->code), body);
  return body;
}

Status Bootstrap::put(std::string_view key, std::string_view value) {
  return call(wire::BootOp::Put, key, value, 0).status();
}

Result<std::string> Bootstrap::get(std::string_view key, int64_t timeoutUs) {
  return call(wire::BootOp::Get, key, {}, timeoutUs);
}

Result<std::vector<std::string>> Bootstrap::allgather(std::string_view value, int64_t timeoutUs) {
  std::string round;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    round = std::to_string(++gathers_);
  }
  Result<std::string> all = call(wire::BootOp::Gather, round, value, timeoutUs);
  if (!all.ok())
    return all.status();
  std::vector<std::string> values;
  std::string_view rest = *all;
  while (rest.size() >= 4) {
    size_t length = wire::Decoder(reinterpret_cast<const uint8_t *>(rest.data())).get<uint32_t>();
    if (length > rest.size() - 4)
      break;
    values.emplace_back(rest.substr(4, length));
    rest.remove_prefix(4 + length);
  }
  if (values.size() != static_cast<size_t>(worldSize_) || !rest.empty())
    return Status(kCollPeer, "rank 0's reply is malformed");
  return values;
}

Status Bootstrap::barrier(int64_t timeoutUs) { return allgather({}, timeoutUs).status(); }

} // namespace coll::net
