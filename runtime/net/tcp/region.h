// region.h - registered memory, kept alive while a socket call uses it.

#ifndef COLL_RUNTIME_NET_TCP_REGION_H
#define COLL_RUNTIME_NET_TCP_REGION_H

#include "runtime/net/transport.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace coll::net::tcp {

// A socket call on the memory holds `use` shared and checks `alive` under it.
struct Region final : Memory {
  RemoteKey remoteKey() const override { return key; }
  bool covers(uint64_t offset, uint64_t bytes) const {
    return offset <= key.bytes && bytes <= key.bytes - offset;
  }

  RemoteKey key;
  uint8_t *data = nullptr;
  std::atomic<bool> alive{true};
  std::shared_mutex use;
};

// All memory that peers may access by key. Any thread may call it.
class RegionTable {
public:
  void add(const std::shared_ptr<Region> &region) {
    std::lock_guard<std::mutex> lock(mutex_);
    regions_[region->key.key] = region;
  }
  // Null if there is no such region.
  std::shared_ptr<Region> find(uint64_t key) const {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = regions_.find(key);
    return it == regions_.end() ? nullptr : it->second;
  }
  // Returns when no socket call uses the memory and none can start.
  void remove(const Region &region) {
    std::shared_ptr<Region> keep;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto it = regions_.find(region.key.key);
      if (it == regions_.end())
        return;
      keep = std::move(it->second);
      regions_.erase(it);
    }
    keep->alive = false;
    std::lock_guard<std::shared_mutex> wait(keep->use);
  }

private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<Region>> regions_;
};

} // namespace coll::net::tcp

#endif // COLL_RUNTIME_NET_TCP_REGION_H
