// memory.h - registered memory: the application's registrations, and the transport's own for
// buffers that are not registered.

#ifndef COLL_RUNTIME_NET_VERBS_MEMORY_H
#define COLL_RUNTIME_NET_VERBS_MEMORY_H

#include "runtime/dl/ibverbs.h"
#include "runtime/net/socket.h"
#include "runtime/net/transport.h"

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace coll::net::verbs {

class Device;

// Registrations of one device, by whole pages, each shared by all requests whose buffers it covers.
// A registration that no request uses is deregistered unless it fits into `idleBytes`; the least
// recently used one is evicted first. Any thread may call it.
class RegistrationCache {
  struct Entry {
    uintptr_t begin = 0, end = 0;
    bool isWritable = false;
    ibv_mr *mr = nullptr;
    uint32_t users = 0;
    std::list<Entry *>::iterator idle; // if users is 0
  };

public:
  // Keeps a registration alive. Movable; empty by default.
  class Lease {
  public:
    Lease() = default;
    Lease(Lease &&other) noexcept
        : cache_(std::exchange(other.cache_, nullptr)), entry_(other.entry_) {}
    Lease &operator=(Lease &&other) noexcept {
      std::swap(cache_, other.cache_);
      std::swap(entry_, other.entry_);
      return *this;
    }
    ~Lease() {
      if (cache_)
        cache_->release(entry_);
    }
    const ibv_mr *mr() const { return entry_->mr; }

  private:
    friend class RegistrationCache;
    Lease(RegistrationCache *cache, Entry *entry) : cache_(cache), entry_(entry) {}
    RegistrationCache *cache_ = nullptr;
    Entry *entry_ = nullptr;
  };

  RegistrationCache(const rt::dl::Ibverbs &api, uint64_t idleBytes)
      : api_(api), idleLimit_(idleBytes) {}
  ~RegistrationCache() { clear(); }
  // No lease may be left.
  void clear();
  void setPd(ibv_pd *pd) { pd_ = pd; }

  // Registers [data, data + bytes); bytes > 0. With `isSource` the device only reads the memory,
  // which may then be read-only.
  Result<Lease> acquire(const void *data, uint64_t bytes, bool isSource);

private:
  void release(Entry *entry);
  Entry *find(uintptr_t begin, uintptr_t end, bool isSource);
  // Evicts idle entries until they hold at most `limit` bytes, and deregisters them.
  void trim(uint64_t limit);

  const rt::dl::Ibverbs &api_;
  ibv_pd *pd_ = nullptr;
  const uint64_t idleLimit_;
  std::mutex mutex_;
  std::multimap<uintptr_t, std::unique_ptr<Entry>> entries_; // by begin
  std::list<Entry *> idle_;                                  // least recently used first
  uint64_t idleBytes_ = 0;
};

// The keys by which a device reaches registered memory.
struct MemoryKeys {
  uint32_t lkey = 0, rkey = 0;
};

// Memory that the application registered. A peer asks for access with the 64-bit key; the answer is
// the 32-bit rkey of a registration of exactly these bytes.
class Region final : public Memory {
public:
  Region(const MemoryRegion &memory, uint64_t key) : memory_(memory) {
    key_.key = key;
    key_.address = reinterpret_cast<uintptr_t>(memory.data);
    key_.bytes = memory.bytes;
  }
  ~Region() override { deregister(); }

  RemoteKey remoteKey() const override { return key_; }
  bool isHost() const { return memory_.kind == MemoryKind::Host; }
  uint64_t address() const { return key_.address; }
  bool covers(uint64_t offset, uint64_t bytes) const {
    return offset <= key_.bytes && bytes <= key_.bytes - offset;
  }
  // The keys of the registration on this device, which is made if there is none yet; zeros for
  // empty memory. Memory behind a file descriptor stays with its first device. Returns keys instead
  // of the registration, because another thread may end the registration at any time.
  Result<MemoryKeys> on(Device &device);
  // Afterwards the device gives no access to the memory.
  void deregister();

private:
  RemoteKey key_;
  MemoryRegion memory_;
  std::mutex mutex_;
  bool gone_ = false;
  std::map<Device *, ibv_mr *> registrations_;
};

// All memory that peers may request. Any thread may call it.
class RegionTable {
public:
  void add(const std::shared_ptr<Region> &region) {
    std::lock_guard<std::mutex> lock(mutex_);
    regions_[region->remoteKey().key] = region;
  }
  // Null if there is no such region.
  std::shared_ptr<Region> find(uint64_t key) const {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = regions_.find(key);
    return it == regions_.end() ? nullptr : it->second;
  }
  void remove(const Region &region) {
    std::shared_ptr<Region> keep;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto it = regions_.find(region.remoteKey().key);
      if (it == regions_.end())
        return;
      keep = std::move(it->second);
      regions_.erase(it);
    }
    keep->deregister();
  }

private:
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<Region>> regions_;
};

} // namespace coll::net::verbs

#endif // COLL_RUNTIME_NET_VERBS_MEMORY_H
