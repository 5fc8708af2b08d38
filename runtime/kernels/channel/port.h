// port.h - the host's side of a channel's queues.
//
// One thread at a time may call it. No function blocks. The caller owns both memories, which must
// outlive the port and every launch that names them.

#ifndef COLL_RUNTIME_KERNELS_CHANNEL_PORT_H
#define COLL_RUNTIME_KERNELS_CHANNEL_PORT_H

#include "runtime/base/channel_layout.h"
#include "runtime/base/status.h"

namespace coll::kernels {

class ChannelPort {
public:
  // `shared` as the host addresses it, zeroed.
  ChannelPort(rt::ChannelShared *shared, uint32_t numQueues, uint32_t blocksPerQueue)
      : shared_(shared), numQueues_(numQueues), blocksPerQueue_(blocksPerQueue) {}

  uint32_t numQueues() const { return numQueues_; }

  // Whether the queue has no free slot for the next item.
  bool full(uint32_t queue) const;
  // Posts an item and returns its number. Must not be called while full(). `sources`:
  // item.numSources addresses of a Reduce with more than two, else null. The caller ensures that
  // the fields are valid.
  uint64_t post(uint32_t queue, const rt::ChannelItem &item, const void *const *sources = nullptr);
  // Whether every block of the queue has done item `number` and all earlier items.
  bool isDone(uint32_t queue, uint64_t number) const;
  bool isIdle(uint32_t queue) const { return isDone(queue, posted_[queue]); }
  // The error word of an Unpack or Expand for which isDone() is true, or 0. Valid until its slot
  // has another item.
  uint64_t pageError(uint32_t queue, uint64_t number) const;

  // Whether every block has left launch `number`.
  bool hasExited(uint64_t number) const;
  // Ends every block at its next check, and a launch that starts later at once. The port cannot be
  // used afterwards.
  void abort();
  // Ok, or kCollDevice once a block has given up, with the reason and the block.
  rt::Status error() const;

private:
  rt::ChannelShared *shared_;
  uint32_t numQueues_;
  uint32_t blocksPerQueue_;
  uint64_t posted_[rt::kChannelMaxQueues] = {};
};

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_CHANNEL_PORT_H
