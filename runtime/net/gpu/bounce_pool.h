// bounce_pool.h - host memory into which the network writes data for a GPU.
//
// One pool per GPU serves all its connections, because stock NCCL keeps one bounce address per
// block of threads, for any number of connections. The pool is one range of pinned host memory,
// mapped for the GPU, that ends below 4 GiB (descriptors have 32-bit offsets). It is given out in
// blocks.
//
// **Bounded.** Nothing is pinned beyond the limit. Memory is pinned when an account is opened,
// never by take(), because pinning waits for the GPU. Each account is guaranteed kGuaranteedBlocks;
// blocks beyond the sum of these are given to the account that asks first.
//
// Any thread may call it; the lock is held for a few instructions.

#ifndef COLL_RUNTIME_NET_GPU_BOUNCE_POOL_H
#define COLL_RUNTIME_NET_GPU_BOUNCE_POOL_H

#include "runtime/base/status.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace coll::net {

using rt::Result;
using rt::Status;

// Pins parts of an address range. The pool uses CUDA only through it.
class Pinner {
public:
  virtual ~Pinner() = default;
  virtual Status pin(uint8_t *data, uint64_t bytes) = 0;
  virtual void unpin(uint8_t *data, uint64_t bytes) = 0;
  // The GPU's address of pinned memory.
  virtual Result<uint64_t> deviceAddress(uint8_t *data) = 0;
};

struct BounceStats {
  uint64_t limitBytes = 0;
  uint64_t pinnedBytes = 0;
  uint64_t usedBytes = 0; // in blocks that are taken
  uint64_t peakBytes = 0;
  uint64_t refused = 0; // calls of take() that found no room
  uint32_t accounts = 0;
};

class BouncePool {
public:
  static constexpr uint64_t kBlockBytes = 512 << 10;
  // Bytes that are pinned at a time.
  static constexpr uint64_t kChunkBytes = 32 << 20;
  // One message of the largest size, and a block for the data that is sent with it.
  static constexpr uint32_t kGuaranteedBlocks = 9;

  // One connection's share of the pool. Destroy it before the pool, and after its blocks were
  // returned.
  class Account {
  public:
    ~Account();
    Account(const Account &) = delete;
    Account &operator=(const Account &) = delete;

    // Takes `count` blocks, 1 to kGuaranteedBlocks; blocks[] receives their numbers. A block starts
    // at number * kBlockBytes. False if there is no room now. With `spread` the blocks are from all
    // over the pool; otherwise the most recently used ones are taken first, because they may still
    // be in the processor's cache.
    bool take(uint32_t count, uint32_t *blocks, bool spread = false);
    void give(uint32_t count, const uint32_t *blocks);

  private:
    friend class BouncePool;
    Account(BouncePool &pool, uint64_t roomBytes) : pool_(pool), roomBytes_(roomBytes) {}
    BouncePool &pool_;
    const uint64_t roomBytes_;
    uint32_t held_ = 0; // protected by the pool's lock
  };

  // Reserves addresses for `limitBytes` (rounded down to blocks; at most 4 GiB), but pins nothing.
  static Result<std::unique_ptr<BouncePool>> create(std::unique_ptr<Pinner> pinner,
                                                    uint64_t limitBytes);
  ~BouncePool();
  BouncePool(const BouncePool &) = delete;
  BouncePool &operator=(const BouncePool &) = delete;

  // Opens an account and adds `roomBytes` for it to the pool, as far as the limit allows; may wait
  // for the GPU. kCollDevice if the limit leaves no room for another account, or if the memory
  // cannot be pinned.
  Result<std::unique_ptr<Account>> open(uint64_t roomBytes);

  uint8_t *host() const { return base_; }     // first byte, for the CPU
  uint64_t device() const { return device_; } // the same byte, for the GPU
  uint8_t *host(uint32_t block) const { return base_ + block * kBlockBytes; }
  BounceStats stats() const;

private:
  BouncePool(std::unique_ptr<Pinner> pinner, uint64_t limitBytes);
  Status grow(uint64_t bytes); // grows to this many pinned bytes; the caller holds growth_
  void close(Account &account);

  std::unique_ptr<Pinner> pinner_;
  uint8_t *base_ = nullptr;
  uint64_t device_ = 0;
  const uint64_t limitBytes_;

  std::mutex growth_; // one thread grows it at a time; taken before mutex_
  mutable std::mutex mutex_;
  std::vector<uint32_t> free_; // the last one was used most recently
  uint64_t unmet_ = 0;         // blocks that accounts are guaranteed and do not hold
  uint64_t pinnedBytes_ = 0;
  uint64_t roomBytes_ = 0; // of the accounts; protected by growth_
  uint64_t random_ = 1;
  BounceStats stats_;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_BOUNCE_POOL_H
