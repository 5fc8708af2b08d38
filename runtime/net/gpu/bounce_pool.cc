#include "runtime/net/gpu/bounce_pool.h"

#include <algorithm>
#include <string>
#include <sys/mman.h>

namespace coll::net {

namespace {

constexpr uint64_t kMaxBytes = uint64_t(1) << 32; // offsets have 32 bits

uint64_t unmetOf(uint32_t held) {
  return held < BouncePool::kGuaranteedBlocks ? BouncePool::kGuaranteedBlocks - held : 0;
}

} // namespace

BouncePool::BouncePool(std::unique_ptr<Pinner> pinner, uint64_t limitBytes)
    : pinner_(std::move(pinner)), limitBytes_(limitBytes) {}

Result<std::unique_ptr<BouncePool>> BouncePool::create(std::unique_ptr<Pinner> pinner,
                                                       uint64_t limitBytes) {
  uint64_t limit = std::min(limitBytes, kMaxBytes) / kBlockBytes * kBlockBytes;
  if (limit < kGuaranteedBlocks * kBlockBytes)
    return Status::invalid("a bounce pool needs at least " +
                           std::to_string(kGuaranteedBlocks * kBlockBytes) + " bytes, not " +
                           std::to_string(limitBytes));
  std::unique_ptr<BouncePool> pool(new BouncePool(std::move(pinner), limit));
  // Reserves addresses only; pages are allocated when they are pinned.
  void *base = mmap(nullptr, limit, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return Status(kCollDevice, "cannot reserve addresses for a bounce pool of " +
                                   std::to_string(limit) + " bytes");
  pool->base_ = static_cast<uint8_t *>(base);
  (void)madvise(base, limit, MADV_HUGEPAGE); // pinning is faster with huge pages
  return pool;
}

BouncePool::~BouncePool() {
  if (!base_)
    return;
  for (uint64_t at = 0; at < pinnedBytes_; at += kChunkBytes)
    pinner_->unpin(base_ + at, std::min(kChunkBytes, pinnedBytes_ - at));
  munmap(base_, limitBytes_);
}

Status BouncePool::grow(uint64_t bytes) {
  while (pinnedBytes_ < bytes) {
    uint64_t chunk = std::min(kChunkBytes, limitBytes_ - pinnedBytes_);
    uint8_t *data = base_ + pinnedBytes_;
    COLL_RETURN_IF_ERROR(pinner_->pin(data, chunk));
    Result<uint64_t> address = pinner_->deviceAddress(data);
    // One bounce address serves all descriptors, so the GPU has to see one contiguous range.
    if (!address.ok() || (pinnedBytes_ > 0 && *address != device_ + pinnedBytes_)) {
      pinner_->unpin(data, chunk);
      return address.ok() ? Status(kCollDevice, "the GPU does not see pinned memory in one range")
                          : address.status();
    }
    std::lock_guard<std::mutex> lock(mutex_);
    if (pinnedBytes_ == 0)
      device_ = *address;
    // The lowest block is taken first.
    for (uint64_t block = (pinnedBytes_ + chunk) / kBlockBytes;
         block-- > pinnedBytes_ / kBlockBytes;)
      free_.push_back(static_cast<uint32_t>(block));
    pinnedBytes_ += chunk;
  }
  return {};
}

Result<std::unique_ptr<BouncePool::Account>> BouncePool::open(uint64_t roomBytes) {
  std::lock_guard<std::mutex> growth(growth_);
  uint64_t accounts = stats_.accounts + 1; // closing needs the growth lock too
  uint64_t sure = accounts * kGuaranteedBlocks * kBlockBytes;
  if (sure > limitBytes_)
    return Status(kCollDevice, "the bounce pool is full: " + std::to_string(accounts) +
                                   " connections need " + std::to_string(sure) +
                                   " bytes, its limit (COLL_NET_BOUNCE_BYTES) is " +
                                   std::to_string(limitBytes_));
  Status grown = grow(std::min(std::max(roomBytes_ + roomBytes, sure), limitBytes_));
  if (!grown.ok() && pinnedBytes_ < sure)
    return grown.annotate("pinning memory for the bounce pool");
  std::lock_guard<std::mutex> lock(mutex_);
  ++stats_.accounts;
  roomBytes_ += roomBytes;
  unmet_ += kGuaranteedBlocks;
  return std::unique_ptr<Account>(new Account(*this, roomBytes));
}

void BouncePool::close(Account &account) {
  std::lock_guard<std::mutex> growth(growth_);
  std::lock_guard<std::mutex> lock(mutex_);
  --stats_.accounts;
  roomBytes_ -= account.roomBytes_;
  unmet_ -= unmetOf(account.held_);
}

BouncePool::Account::~Account() { pool_.close(*this); }

bool BouncePool::Account::take(uint32_t count, uint32_t *blocks, bool spread) {
  std::lock_guard<std::mutex> lock(pool_.mutex_);
  std::vector<uint32_t> &free = pool_.free_;
  uint64_t unmetBy = pool_.unmet_ - unmetOf(held_); // blocks guaranteed to other accounts
  bool claimed = held_ + count <= kGuaranteedBlocks;
  if (free.size() < count || (!claimed && free.size() - count < unmetBy)) {
    ++pool_.stats_.refused;
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (spread) {
      pool_.random_ = pool_.random_ * 6364136223846793005u + 1442695040888963407u;
      std::swap(free.back(), free[(pool_.random_ >> 33) % free.size()]);
    }
    blocks[i] = free.back();
    free.pop_back();
  }
  held_ += count;
  pool_.unmet_ = unmetBy + unmetOf(held_);
  pool_.stats_.usedBytes += count * kBlockBytes;
  pool_.stats_.peakBytes = std::max(pool_.stats_.peakBytes, pool_.stats_.usedBytes);
  return true;
}

void BouncePool::Account::give(uint32_t count, const uint32_t *blocks) {
  std::lock_guard<std::mutex> lock(pool_.mutex_);
  for (uint32_t i = count; i-- > 0;)
    pool_.free_.push_back(blocks[i]);
  pool_.unmet_ += unmetOf(held_ - count) - unmetOf(held_);
  held_ -= count;
  pool_.stats_.usedBytes -= count * kBlockBytes;
}

BounceStats BouncePool::stats() const {
  std::lock_guard<std::mutex> lock(mutex_);
  BounceStats stats = stats_;
  stats.limitBytes = limitBytes_;
  stats.pinnedBytes = pinnedBytes_;
  return stats;
}

} // namespace coll::net
