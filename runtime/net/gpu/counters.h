// counters.h - the counters behind DeviceStats.

#ifndef COLL_RUNTIME_NET_GPU_COUNTERS_H
#define COLL_RUNTIME_NET_GPU_COUNTERS_H

#include "runtime/net/gpu/transport.h"

#include <atomic>

namespace coll::net {

// Any thread may count; counts are not ordered with anything else.
class Counter {
public:
  void add(uint64_t amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<uint64_t> value_{0};
};

struct DeviceCounters {
  Counter unpackedMessages, unpackedPages, unpackedBytes;
  Counter packedMessages, packedPages, packedBytes;
  Counter stagedReceives, stagedSends, stagedBytes;
  Counter directReceives, directSends;
  Counter republished, refused;

  DeviceStats get() const {
    DeviceStats stats;
    stats.unpackedMessages = unpackedMessages.get();
    stats.unpackedPages = unpackedPages.get();
    stats.unpackedBytes = unpackedBytes.get();
    stats.packedMessages = packedMessages.get();
    stats.packedPages = packedPages.get();
    stats.packedBytes = packedBytes.get();
    stats.stagedReceives = stagedReceives.get();
    stats.stagedSends = stagedSends.get();
    stats.stagedBytes = stagedBytes.get();
    stats.directReceives = directReceives.get();
    stats.directSends = directSends.get();
    stats.republished = republished.get();
    stats.refused = refused.get();
    return stats;
  }
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_COUNTERS_H
