// shared.h - the state that all connections of a verbs transport share.

#ifndef COLL_RUNTIME_NET_VERBS_SHARED_H
#define COLL_RUNTIME_NET_VERBS_SHARED_H

#include "runtime/net/poller.h"
#include "runtime/net/rate_limit.h"
#include "runtime/net/verbs/device.h"
#include "runtime/net/verbs/memory.h"
#include "runtime/net/verbs/verbs.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace coll::net::verbs {

// A port of a device; the transport's interface calls it a device.
struct Rail {
  Device *device = nullptr;
  uint8_t port = 0;
  Address address; // the address of its listeners
  bool isUsable() const { return device->isUsable(port); }
};

struct Shared {
  Shared(const VerbsOptions &options, const std::optional<Secret> &secret)
      : options(options), secret(secret) {}

  // Spreads the connections over the threads.
  Poller &nextPoller() { return *pollers[next.fetch_add(1) % pollers.size()]; }
  // The rail of this number or, if it is down, another one that is up.
  Result<const Rail *> usableRail(int number) const {
    const Rail &wanted = rails[static_cast<size_t>(number)];
    if (wanted.isUsable())
      return &wanted;
    for (const Rail &rail : rails)
      if (rail.isUsable())
        return &rail;
    return Status(kCollLink, "no port of an RDMA device is up");
  }

  VerbsOptions options;
  std::optional<Secret> secret;             // none: each listener has its own
  std::vector<DeviceProperties> properties; // of the rails
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Rail> rails;
  RegionTable regions;
  RateLimitedLog log;
  std::atomic<int> lingering{0}; // closed connections that wait for their peer
  std::atomic<size_t> next{0};
  std::vector<std::unique_ptr<Poller>> pollers; // last: their threads end first
};

} // namespace coll::net::verbs

#endif // COLL_RUNTIME_NET_VERBS_SHARED_H
