#include "runtime/backend/threads/slot.h"

#include <algorithm>

namespace coll::rt::threads {

void Slot::create(int members, int workers) {
  members_ = members;
  workers_ = workers;
  leaves_ = std::make_unique<Counter[]>(static_cast<size_t>((members - 1) / kLeafSize + 1));
  taken_ = std::make_unique<Counter[]>(static_cast<size_t>(workers));
  work_.members.resize(static_cast<size_t>(members));
}

bool Slot::leaveOpen(uint64_t number, SlotState to) {
  uint64_t word = word_.load(std::memory_order_acquire);
  while (stateIn(word, number) == SlotState::Open)
    if (word_.compare_exchange_weak(word, number * kStates + static_cast<uint64_t>(to)))
      return true;
  return false;
}

void Slot::setState(uint64_t number, SlotState to) {
  word_.store(number * kStates + static_cast<uint64_t>(to), std::memory_order_release);
}

bool Slot::arrive(int position) {
  int leaf = position / kLeafSize;
  int inLeaf = std::min(kLeafSize, members_ - leaf * kLeafSize);
  std::atomic<int64_t> &arrived = leaves_[static_cast<size_t>(leaf)].value;
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < inLeaf)
    return false;
  arrived.store(0, std::memory_order_relaxed);
  int leaves = (members_ - 1) / kLeafSize + 1;
  if (leaves == 1)
    return true;
  if (arrivedLeaves_.value.fetch_add(1, std::memory_order_acq_rel) + 1 < leaves)
    return false;
  arrivedLeaves_.value.store(0, std::memory_order_relaxed);
  return true;
}

void Slot::deal() {
  work_.prepare(workers_ == members_ ? workers_ : 1);
  shares_ = static_cast<int>(std::min<int64_t>(workers_, work_.numChunks));
  for (int share = 0; share < shares_; ++share)
    taken_[static_cast<size_t>(share)].value.store(0, std::memory_order_relaxed);
  done_.value.store(0, std::memory_order_relaxed);
}

bool Slot::help(int position) {
  int64_t done = 0;
  for (int i = 0; i < shares_; ++i) {
    int share = (position + i) % shares_;
    int64_t begin = work_.numChunks * share / shares_;
    int64_t chunks = work_.numChunks * (share + 1) / shares_ - begin;
    std::atomic<int64_t> &taken = taken_[static_cast<size_t>(share)].value;
    // Reads first, so that the owner of the share keeps its cache line if nothing is left.
    while (taken.load(std::memory_order_relaxed) < chunks) {
      int64_t chunk = taken.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks)
        break;
      work_.run(begin + chunk);
      ++done;
    }
  }
  if (done == 0 || done_.value.fetch_add(done, std::memory_order_acq_rel) + done != work_.numChunks)
    return false;
  work_.reset();
  return true;
}

} // namespace coll::rt::threads
