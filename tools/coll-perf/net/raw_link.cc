// Plain sockets, as fast as blocking calls can be: the comparison for the tcp transport.

#include "runtime/base/thread.h"
#include "runtime/net/tcp/tcp.h"
#include "tools/coll-perf/net/arena.h"
#include "tools/coll-perf/net/link.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <sstream>
#include <string>
#include <thread>

namespace coll::perf {

namespace {

using net::Address;
using net::Fd;
using net::nowUs;

// The first message of a connecting socket; it keeps strangers out.
struct Hello {
  uint64_t token;
  uint64_t index;
};
// Splitting messages over sockets into smaller pieces is not worth it; the transport has the same
// limit.
constexpr uint64_t kPieceBytes = 64 << 10;
// Used if the number of sockets is left to the transport.
constexpr int kDefaultSockets = net::TcpOptions::kDataStreams;
constexpr int64_t kStallUs = 30'000'000;

Status lost(const char *what) { return net::linkError(std::string("raw sockets: ") + what, errno); }

Status sendAll(int fd, const uint8_t *data, uint64_t bytes) {
  while (bytes > 0) {
    ssize_t count = ::send(fd, data, bytes, MSG_NOSIGNAL);
    if (count <= 0)
      return lost("send");
    data += count;
    bytes -= static_cast<uint64_t>(count);
  }
  return {};
}

Status recvAll(int fd, uint8_t *data, uint64_t bytes) {
  while (bytes > 0) {
    ssize_t count = ::recv(fd, data, bytes, MSG_WAITALL);
    if (count <= 0)
      return lost("receive");
    data += count;
    bytes -= static_cast<uint64_t>(count);
  }
  return {};
}

// Like recv, but polls instead of sleeping.
Status recvPolling(int fd, uint8_t *data, uint64_t bytes) {
  for (int64_t idle = 0; bytes > 0;) {
    ssize_t count = ::recv(fd, data, bytes, MSG_DONTWAIT);
    if (count > 0) {
      data += count;
      bytes -= static_cast<uint64_t>(count);
    } else if (count == 0 || errno != EAGAIN) {
      return lost("receive");
    } else if (++idle > 200) {
      sched_yield();
    }
  }
  return {};
}

class RawLink final : public Link {
public:
  RawLink(Job &job, const NetPlan &plan)
      : job_(job), plan_(plan), sockets_(static_cast<uint64_t>(
                                    (plan.sockets ? plan.sockets : kDefaultSockets) * plan.rails)),
        slots_(static_cast<uint64_t>(plan.connections) * sockets_ *
               static_cast<uint64_t>(plan.inflight)),
        out_(slots_, pieceOf(plan.largest())), in_(slots_, pieceOf(plan.largest())) {}

  Status open();
  std::string describe() const override {
    return "raw sockets, " + std::to_string(sockets_) + " a connection" +
           (plan_.rails > 1 ? " over " + std::to_string(plan_.rails) + " devices" : "");
  }
  Status verify(uint64_t) override { return {}; }
  Status pingPong(uint64_t bytes, uint64_t count, std::vector<double> &timesUs) override;
  Result<double> stream(uint64_t bytes, uint64_t count, bool bothWays) override;

private:
  // The bytes of one call when a message is spread over all sockets of a connection.
  uint64_t pieceOf(uint64_t bytes) const {
    return std::max(bytes / sockets_, std::min(bytes, kPieceBytes));
  }
  Result<std::vector<Fd>> listenAll();
  Status acceptAll(const std::vector<Fd> &listeners, uint64_t token);
  Status connectAll(const std::vector<Address> &addresses, uint64_t token);
  Status run(size_t socket, bool isSend, uint64_t piece, uint64_t count);
  Status meet();

  Job &job_;
  NetPlan plan_;
  uint64_t sockets_, slots_;
  Arena out_, in_;
  std::vector<Fd> fds_;
  std::vector<uint8_t> whole_; // buffer of a ping-pong
};

// Listens on as many interfaces as a connection uses devices; an interface with several addresses
// counts once.
Result<std::vector<Fd>> RawLink::listenAll() {
  Result<std::vector<net::Interface>> interfaces = net::findInterfaces(job_.place().iface);
  if (!interfaces.ok())
    return interfaces.status();
  std::set<std::string> names;
  std::vector<Fd> listeners;
  for (const net::Interface &interface : *interfaces) {
    if (listeners.size() == static_cast<size_t>(plan_.rails) ||
        !names.insert(interface.name).second)
      continue;
    Result<Fd> fd = net::listenOn(interface.address);
    if (!fd.ok())
      return fd.status();
    listeners.push_back(fd.take());
  }
  return listeners;
}

Status RawLink::open() {
  if (!out_.data() || !in_.data())
    return {kCollDevice, "no memory for the buffers of raw sockets"};
  whole_.resize(plan_.largest());
  std::vector<Fd> listeners;
  std::string mine;
  uint64_t token = 0;
  if (job_.rank() == 0) {
    Result<std::vector<Fd>> made = listenAll();
    if (!made.ok())
      return made.status();
    listeners = made.take();
    COLL_RETURN_IF_ERROR(net::fillRandom(&token, sizeof(token)));
    mine = std::to_string(token);
    for (const Fd &listener : listeners) {
      Result<Address> address = net::localAddress(listener);
      if (!address.ok())
        return address.status();
      mine += " " + address->toString();
    }
  }
  Result<std::string> theirs = job_.swap(mine);
  if (!theirs.ok())
    return theirs.status();
  if (!listeners.empty())
    return acceptAll(listeners, token);
  std::istringstream words(*theirs);
  words >> token;
  std::vector<Address> addresses;
  for (std::string word; words >> word;) {
    Result<Address> address = Address::parse(word);
    if (!address.ok())
      return address.status();
    addresses.push_back(*address);
  }
  if (addresses.empty())
    return {kCollMismatch, "raw sockets: the peer sent no address to connect to"};
  return connectAll(addresses, token);
}

Status RawLink::acceptAll(const std::vector<Fd> &listeners, uint64_t token) {
  fds_.resize(static_cast<size_t>(plan_.connections) * sockets_);
  int64_t deadlineUs = nowUs() + job_.place().timeoutUs;
  for (size_t here = 0; here < fds_.size();) {
    if (nowUs() > deadlineUs)
      return {kCollTimeout, "raw sockets: timed out waiting for the peer to connect"};
    std::vector<pollfd> ready;
    for (const Fd &listener : listeners)
      ready.push_back({listener.get(), POLLIN, 0});
    if (poll(ready.data(), ready.size(), 100) <= 0)
      continue;
    auto first = std::find_if(ready.begin(), ready.end(),
                              [](const pollfd &one) { return one.revents != 0; });
    Fd fd(accept4(first->fd, nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd.valid())
      continue;
    net::setStreamOptions(fd, kStallUs);
    timeval second = {1, 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
    Hello hello = {};
    Status greeted = recvAll(fd.get(), reinterpret_cast<uint8_t *>(&hello), sizeof(hello));
    if (!greeted.ok() || hello.token != token || hello.index >= fds_.size() ||
        fds_[hello.index].valid())
      continue;
    timeval patient = {kStallUs / 1'000'000, 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patient, sizeof(patient));
    fds_[hello.index] = std::move(fd);
    ++here;
  }
  return {};
}

Status RawLink::connectAll(const std::vector<Address> &addresses, uint64_t token) {
  size_t total = static_cast<size_t>(plan_.connections) * sockets_;
  for (uint64_t index = 0; index < total; ++index) {
    const Address &address = addresses[index % addresses.size()];
    Fd fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<const sockaddr *>(&address.storage),
                                 address.length) != 0)
      return lost("connect");
    net::setStreamOptions(fd, kStallUs);
    timeval patient = {kStallUs / 1'000'000, 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patient, sizeof(patient));
    Hello hello = {token, index};
    COLL_RETURN_IF_ERROR(
        sendAll(fd.get(), reinterpret_cast<const uint8_t *>(&hello), sizeof(hello)));
    fds_.push_back(std::move(fd));
  }
  return {};
}

Status RawLink::meet() {
  uint8_t byte = 0;
  COLL_RETURN_IF_ERROR(sendAll(fds_[0].get(), &byte, 1));
  return recvAll(fds_[0].get(), &byte, 1);
}

Status RawLink::run(size_t socket, bool isSend, uint64_t piece, uint64_t count) {
  uint64_t ring = static_cast<uint64_t>(plan_.inflight);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t slot = socket * ring + i % ring;
    COLL_RETURN_IF_ERROR(isSend ? sendAll(fds_[socket].get(), out_.slot(slot), piece)
                                : recvAll(fds_[socket].get(), in_.slot(slot), piece));
  }
  return {};
}

Result<double> RawLink::stream(uint64_t bytes, uint64_t count, bool bothWays) {
  uint64_t piece = pieceOf(bytes);
  // Moves as many bytes as the messages have, spread over the sockets.
  uint64_t pieces = std::max<uint64_t>(1, bytes * count / (piece * sockets_));
  std::vector<std::thread> threads;
  std::vector<Status> outcomes(fds_.size() * 2);
  enum class Gate { Closed, Open, Cancelled };
  std::atomic<Gate> gate{Gate::Closed};
  Status met;
  for (size_t socket = 0; socket < fds_.size() && met.ok(); ++socket)
    for (bool isSend : {true, false}) {
      if (!met.ok() || (!bothWays && isSend != (job_.rank() == 0)))
        continue;
      met = rt::startThread(threads.emplace_back(), "a socket", [&, socket, isSend] {
        while (gate == Gate::Closed)
          std::this_thread::yield();
        if (gate == Gate::Open)
          outcomes[socket * 2 + isSend] = run(socket, isSend, piece, pieces);
      });
    }
  const bool canRun = met.ok();
  if (canRun)
    met = meet();
  int64_t begin = nowUs();
  gate = canRun ? Gate::Open : Gate::Cancelled;
  for (std::thread &thread : threads)
    if (thread.joinable())
      thread.join();
  if (met.ok())
    met = meet();
  outcomes.push_back(met);
  for (const Status &outcome : outcomes)
    COLL_RETURN_IF_ERROR(outcome);
  double seconds = static_cast<double>(nowUs() - begin) * 1e-6;
  // Scales the time to the requested bytes.
  return seconds * static_cast<double>(bytes * count) /
         static_cast<double>(piece * pieces * sockets_);
}

Status RawLink::pingPong(uint64_t bytes, uint64_t count, std::vector<double> &timesUs) {
  int fd = fds_[0].get();
  if (job_.rank() == 0)
    timesUs.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    if (job_.rank() == 1) {
      COLL_RETURN_IF_ERROR(recvPolling(fd, whole_.data(), bytes));
      COLL_RETURN_IF_ERROR(sendAll(fd, whole_.data(), bytes));
      continue;
    }
    timespec begin = {}, end = {};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    COLL_RETURN_IF_ERROR(sendAll(fd, whole_.data(), bytes));
    COLL_RETURN_IF_ERROR(recvPolling(fd, whole_.data(), bytes));
    clock_gettime(CLOCK_MONOTONIC, &end);
    timesUs.push_back(static_cast<double>(end.tv_sec - begin.tv_sec) * 1e6 +
                      static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-3);
  }
  return {};
}

} // namespace

Result<std::unique_ptr<Link>> makeRawLink(Job &job, const NetPlan &plan) {
  auto link = std::make_unique<RawLink>(job, plan);
  COLL_RETURN_IF_ERROR(link->open());
  return std::unique_ptr<Link>(std::move(link));
}

} // namespace coll::perf
