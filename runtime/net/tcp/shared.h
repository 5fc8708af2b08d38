// shared.h - what all connections of a tcp transport share.

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

struct Shared {
  Shared(const TcpOptions &options, const std::optional<Secret> &secret)
      : options(options), secret(secret) {}

  // Spreads the streams over the threads.
  Poller &nextPoller() { return *pollers[next.fetch_add(1) % pollers.size()]; }
  // Half the threads away from the last one given, so that a socket's two directions, if
  // both are busy, have a thread each.
  Poller &otherPoller() { return *pollers[(next + pollers.size() / 2 - 1) % pollers.size()]; }

  TcpOptions options; // with the number of sockets that it stands for
  bool oneSocket = false;
  std::optional<Secret> secret; // none: each listener has its own
  std::vector<DeviceProperties> devices;
  std::vector<Address> addresses; // of the devices
  RegionTable regions;
  RateLimitedLog log;
  std::atomic<size_t> next{0};
  std::vector<std::unique_ptr<Poller>> pollers; // last: their threads end first
};

} // namespace coll::net::tcp

#endif // COLL_RUNTIME_NET_TCP_SHARED_H
