// ring.h - a ring of records from one thread to another that drops the oldest records.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RING_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RING_H

#include "runtime/profiler/nccl_plugin/record.h"

#include <atomic>
#include <cstring>
#include <memory>

namespace coll::profiler::plugin {

// Overflow policy: the producer never waits and never fails. Records that it overwrites before the
// consumer has read them are lost, and the consumer learns how many. One producer, one consumer;
// both are wait-free.
//
// A slot is a cache line, because moving a line to the consumer costs the producer more than all
// its instructions. A short record takes one slot, any other two.
class DropOldestRing {
public:
  // `slots` is a power of two, at least 2.
  explicit DropOldestRing(size_t slots) : slots_(new Slot[slots]), mask_(slots - 1) {}

  // Called by the producer. Numbers the record.
  void push(Record &record) {
    record.place = ++pushed_;
    const uint64_t number = head_.load(std::memory_order_relaxed);
    const auto *bytes = reinterpret_cast<const char *>(&record);
    write(number, bytes, kWords, kFirst);
    if (isShort(record))
      return head_.store(number + 1, std::memory_order_release);
    write(number + 1, bytes + kShortBytes, (sizeof(record) - kShortBytes) / 8, kSecond);
    head_.store(number + 2, std::memory_order_release);
  }

  // Called by the producer: pushes a kernel channel that has ended, word by word. A record that was
  // made in memory would be read back before its fields have left the processor's store buffer,
  // which is slow.
  void push(const EndedKernel &kernel) {
    const uint64_t number = head_.load(std::memory_order_relaxed);
    const uint64_t words[kWords] = {kernel.ns,
                                    kernel.id,
                                    kernel.parent,
                                    kKernelKindWord | uint64_t(kernel.channel) << 48,
                                    kernel.startStamp,
                                    kernel.stopStamp,
                                    uint64_t(++pushed_) << 32};
    write(number, reinterpret_cast<const char *>(words), kWords, kFirst);
    head_.store(number + 1, std::memory_order_release);
  }

  // Called by the consumer: takes the oldest record. `dropped` grows by the records lost before it.
  bool pop(Record &record, uint64_t &dropped) {
    for (;;) {
      const uint64_t head = head_.load(std::memory_order_acquire);
      if (tail_ == head)
        return false;
      if (head - tail_ > mask_ + 1)
        tail_ = head - mask_ - 1;
      if (!readRecord(record))
        continue;
      dropped += record.place - popped_ - 1;
      popped_ = record.place;
      return true;
    }
  }

private:
  static constexpr size_t kWords = kShortBytes / 8;
  static constexpr uint64_t kFetchedAhead = 8;
  enum Half : uint64_t { kFirst = 2, kSecond = 3 };
  struct alignas(64) Slot {
    // 4 * number + Half; 4 * number + 1 while the slot changes.
    std::atomic<uint64_t> turn{0};
    std::atomic<uint64_t> words[kWords]{};
  };
  static_assert(sizeof(Slot) == 64);

  // Word by word: most of them were stored as words, too.
  void write(uint64_t number, const char *bytes, size_t words, Half half) {
    Slot &slot = slots_[number & mask_];
    // The words are stored with release, so that a reader that sees one of them sees this, too.
    slot.turn.store(4 * number + 1, std::memory_order_relaxed);
    for (size_t i = 0; i < words; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, bytes + 8 * i, sizeof(word));
      slot.words[i].store(word, std::memory_order_release);
    }
    slot.turn.store(4 * number + half, std::memory_order_release);
    fetchForWriting(slots_[(number + kFetchedAhead) & mask_]);
  }
  // The consumer has read the slot last, so its line is at another core: requests it early.
  static void fetchForWriting([[maybe_unused]] const Slot &slot) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(slot));
#endif
  }
  // False if the producer has begun to overwrite it, or if the slot is another half.
  bool read(uint64_t number, uint64_t *words, Half half) const {
    const Slot &slot = slots_[number & mask_];
    if (slot.turn.load(std::memory_order_acquire) != 4 * number + half)
      return false;
    for (size_t i = 0; i < kWords; ++i)
      words[i] = slot.words[i].load(std::memory_order_acquire);
    return slot.turn.load(std::memory_order_relaxed) == 4 * number + half;
  }
  bool readRecord(Record &record) {
    uint64_t words[2 * kWords] = {};
    if (!read(tail_++, words, kFirst))
      return false;
    std::memcpy(static_cast<void *>(&record), words, kShortBytes);
    if (!isShort(record) && !read(tail_++, words + kWords, kSecond))
      return false;
    std::memcpy(static_cast<void *>(&record), words, sizeof(record));
    return true;
  }

  std::unique_ptr<Slot[]> slots_;
  const uint64_t mask_;
  alignas(64) std::atomic<uint64_t> head_{0};
  uint32_t pushed_ = 0;
  alignas(64) uint64_t tail_ = 0;
  uint32_t popped_ = 0;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RING_H
