#include "runtime/kernels/channel/port.h"

#include <string>

namespace coll::kernels {

using rt::ChannelItem;
using rt::Status;

namespace {

uint64_t acquire(const uint64_t &word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }

} // namespace

bool ChannelPort::isDone(uint32_t queue, uint64_t number) const {
  for (uint32_t b = 0; b < blocksPerQueue_; ++b)
    if (acquire(shared_->done[queue * blocksPerQueue_ + b].seq) < number)
      return false;
  return true;
}

bool ChannelPort::full(uint32_t queue) const {
  uint64_t next = posted_[queue] + 1;
  return next > rt::kChannelSlots && !isDone(queue, next - rt::kChannelSlots);
}

uint64_t ChannelPort::post(uint32_t queue, const ChannelItem &item, const void *const *sources) {
  const uint64_t number = ++posted_[queue];
  const uint32_t slot = static_cast<uint32_t>((number - 1) % rt::kChannelSlots);
  rt::ChannelQueue &to = shared_->queues[queue];
  if (sources)
    for (uint32_t i = 0; i < item.numSources && i < rt::kChannelMaxSources; ++i)
      to.sources[slot][i] = sources[i];
  for (uint32_t b = 0; b < blocksPerQueue_; ++b)
    __atomic_store_n(&shared_->pageErrors[queue * blocksPerQueue_ + b][slot], 0, __ATOMIC_RELAXED);
  // The kernel polls seq while the rest is being written, so seq must not be copied with it.
  ChannelItem &at = to.items[slot];
  at.op = item.op;
  at.pageSlot = item.pageSlot;
  at.dst = item.dst;
  at.src[0] = item.src[0];
  at.src[1] = item.src[1];
  at.bytes = item.bytes;
  at.srcBytes = item.srcBytes;
  at.dtype = item.dtype;
  at.reduction = item.reduction;
  at.numSources = item.numSources;
  at.divisor = item.divisor;
  at.rows = item.rows;
  at.dstPitch = item.dstPitch;
  at.srcPitch = item.srcPitch;
  // Release: the blocks poll seq, so the item, and all data that it names, must be visible
  // system-wide before seq changes.
  __atomic_store_n(&at.seq, number, __ATOMIC_RELEASE);
  return number;
}

uint64_t ChannelPort::pageError(uint32_t queue, uint64_t number) const {
  for (uint32_t b = 0; b < blocksPerQueue_; ++b)
    if (const uint64_t word = acquire(
            shared_->pageErrors[queue * blocksPerQueue_ + b][(number - 1) % rt::kChannelSlots]))
      return word;
  return 0;
}

bool ChannelPort::hasExited(uint64_t number) const {
  for (uint32_t b = 0; b < numQueues_ * blocksPerQueue_; ++b)
    if (acquire(shared_->exited[b].seq) < number)
      return false;
  return true;
}

void ChannelPort::abort() { __atomic_store_n(&shared_->abort, 1u, __ATOMIC_RELEASE); }

Status ChannelPort::error() const {
  for (uint32_t b = 0; b < numQueues_ * blocksPerQueue_; ++b)
    if (uint32_t error = __atomic_load_n(&shared_->error[b], __ATOMIC_ACQUIRE))
      return Status(kCollDevice, "block " + std::to_string(b) + " of the channel kernel gave up: " +
                                     rt::channelErrorName(error));
  return Status::okay();
}

} // namespace coll::kernels
