// shared.h - the state that all connections of a tcp transport share.

#ifndef COLL_RUNTIME_NET_TCP_SHARED_H
#define COLL_RUNTIME_NET_TCP_SHARED_H

#include "runtime/net/poller.h"
#include "runtime/net/rate_limit.h"
#include "runtime/net/tcp/region.h"
#include "runtime/net/tcp/tcp.h"

#include <atomic>
#include <memory>
#include <vector>

namespace coll::net::tcp {

// Detects that large messages are sent over several connections at once. If one thread posts them
// all, it should not move the data of one while the others wait.
class ConcurrentSends {
public:
  // Records that `connection` sends one. Returns whether other connections do, or did recently.
  bool noteFrom(const void *connection) {
    constexpr int64_t kTogetherUs = 100, kMemoryUs = 10'000;
    int64_t now = nowUs();
    bool another = last_.exchange(connection, std::memory_order_relaxed) != connection;
    if (another && now - lastUs_.load(std::memory_order_relaxed) < kTogetherUs)
      metUs_.store(now, std::memory_order_relaxed);
    lastUs_.store(now, std::memory_order_relaxed);
    return now - metUs_.load(std::memory_order_relaxed) < kMemoryUs;
  }

private:
  std::atomic<const void *> last_{nullptr};
  std::atomic<int64_t> lastUs_{-1'000'000}, metUs_{-1'000'000};
};

struct Shared {
  Shared(const TcpOptions &options, const std::optional<Secret> &secret)
      : options(options), secret(secret) {}

  // Spreads the streams over the threads.
  Poller &nextPoller() { return *pollers[next.fetch_add(1) % pollers.size()]; }
  // A poller half the threads away from the last one, so that each of a socket's two directions has
  // its own thread if both are busy.
  Poller &otherPoller() { return *pollers[(next + pollers.size() / 2 - 1) % pollers.size()]; }

  TcpOptions options; // with the number of sockets resolved
  bool oneSocket = false;
  std::optional<Secret> secret; // none: each listener has its own
  std::vector<DeviceProperties> devices;
  std::vector<Address> addresses; // of the devices
  RegionTable regions;
  RateLimitedLog log;
  ConcurrentSends concurrentSends;
  std::atomic<size_t> next{0};
  std::vector<std::unique_ptr<Poller>> pollers; // last: their threads end first
};

} // namespace coll::net::tcp

#endif // COLL_RUNTIME_NET_TCP_SHARED_H
