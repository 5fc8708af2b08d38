// ring.h - a ring of records from one thread to another that drops the oldest.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RING_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RING_H

#include "runtime/profiler/nccl_plugin/record.h"

#include <atomic>
#include <cstring>
#include <memory>

namespace coll::profiler::plugin {

// Overflow policy: the producer never waits and never fails; what it overwrites before the consumer
// has read it is lost, and the consumer learns how many records that were. One producer, one
// consumer; both are wait-free.
class DropOldestRing {
public:
  // `slots` is a power of two.
  explicit DropOldestRing(size_t slots) : slots_(new Slot[slots]), mask_(slots - 1) {}

  // By the producer.
  void push(const Record &record) {
    const uint64_t number = head_.load(std::memory_order_relaxed);
    Slot &slot = slots_[number & mask_];
    // Odd while the slot changes. The words are stored with release, so that a reader that sees one
    // of them sees this, too.
    slot.turn.store(2 * number + 1, std::memory_order_relaxed);
    uint64_t words[kWords];
    std::memcpy(words, &record, sizeof(record));
    for (size_t i = 0; i < kWords; ++i)
      slot.words[i].store(words[i], std::memory_order_release);
    slot.turn.store(2 * number + 2, std::memory_order_release);
    head_.store(number + 1, std::memory_order_release);
  }

  // By the consumer: the oldest record that is left. `dropped` grows by the records lost before it.
  bool pop(Record &record, uint64_t &dropped) {
    for (;;) {
      const uint64_t head = head_.load(std::memory_order_acquire);
      if (tail_ == head)
        return false;
      if (head - tail_ > mask_ + 1) {
        dropped += head - tail_ - mask_ - 1;
        tail_ = head - mask_ - 1;
      }
      const uint64_t number = tail_++;
      if (read(slots_[number & mask_], number, record))
        return true;
      ++dropped;
    }
  }

private:
  static constexpr size_t kWords = sizeof(Record) / 8;
  struct Slot {
    std::atomic<uint64_t> turn{0};
    std::atomic<uint64_t> words[kWords]{};
  };
  // False where the producer has begun to overwrite it.
  static bool read(const Slot &slot, uint64_t number, Record &record) {
    if (slot.turn.load(std::memory_order_acquire) != 2 * number + 2)
      return false;
    uint64_t words[kWords];
    for (size_t i = 0; i < kWords; ++i)
      words[i] = slot.words[i].load(std::memory_order_acquire);
    if (slot.turn.load(std::memory_order_relaxed) != 2 * number + 2)
      return false;
    std::memcpy(static_cast<void *>(&record), words, sizeof(record));
    return true;
  }

  std::unique_ptr<Slot[]> slots_;
  const uint64_t mask_;
  alignas(64) std::atomic<uint64_t> head_{0};
  alignas(64) uint64_t tail_ = 0;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RING_H
