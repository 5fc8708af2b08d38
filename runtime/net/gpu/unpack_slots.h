// unpack_slots.h - the host's side of UNPACK and PACK: slots, descriptors, publication.

#ifndef COLL_RUNTIME_NET_GPU_UNPACK_SLOTS_H
#define COLL_RUNTIME_NET_GPU_UNPACK_SLOTS_H

#include "runtime/net/gpu/gpu.h"
#include "runtime/net/gpu/handle_life.h"
#include "runtime/net/gpu/page_list.h"
#include "runtime/net/gpu/transport.h"

#include <array>

namespace coll::net {

// The blocks of the bounce pool that hold one message.
struct BlockList {
  std::array<uint32_t, BouncePool::kGuaranteedBlocks> numbers = {};
  uint32_t count = 0;

  // For `bytes` bytes. False where there is no room.
  bool take(BouncePool::Account &account, uint64_t bytes, bool spread);
  void give(BouncePool::Account &account);
  uint64_t bytes() const { return count * BouncePool::kBlockBytes; }
};

// The kUnpackSlots slots of a connection. By SlotOrder::Posts they are a queue: message
// number n, from 0, has slot n % kUnpackSlots; posted -> published -> consumed, the last in
// order. By SlotOrder::Landing nothing is posted, the number is that of a free slot, and
// slots are consumed in any order. Not safe for threads; the GPU reads what is published.
class UnpackSlots {
public:
  // Pins the descriptors and puts a handle into GPU memory; may wait for the GPU.
  static Result<std::unique_ptr<UnpackSlots>> create(std::shared_ptr<Gpu> gpu,
                                                     BouncePool::Account &account);
  ~UnpackSlots();

  bool full() const { return posted_ - consumed_ == rt::kUnpackSlots; }
  uint64_t post() { return posted_++; } // only where not full; returns the number
  int32_t freeSlot() const;             // -1: none
  // Writes the descriptors, the count, releases. Takes the blocks over. No runs: an
  // empty message. Returns the number of pages.
  uint32_t publish(uint64_t number, const Runs &runs, const PagePolicy &policy,
                   const BlockList &blocks);
  // The same descriptors and count once more, from what is kept of them here and no GPU reaches.
  // False where the slot holds no message.
  bool publishAgain(int32_t slot);
  // The oldest message's slot and blocks are free again. False where that message has
  // not been published, or there is none.
  bool consume();
  // The same for one slot.
  bool consume(int32_t slot);
  // Messages before `number` are over, as far as they were published.
  void consumeBefore(uint64_t number);
  uint64_t posted() const { return posted_; }
  // Gives all blocks back. No kernel may use the handle any more.
  void close();

  const DeviceHandle *handle() const { return handle_; }
  KernelView view() const;

private:
  UnpackSlots(std::shared_ptr<Gpu> gpu, BouncePool::Account &account, HandleLife life)
      : gpu_(std::move(gpu)), account_(account), life_(std::move(life)) {}

  struct Slot {
    bool published = false;
    BlockList blocks;
    Runs runs;
    PagePolicy pages;
  };
  uint32_t write(uint64_t index); // what the GPU reads

  std::shared_ptr<Gpu> gpu_;
  BouncePool::Account &account_;
  HandleLife life_;
  MappedMemory memory_;
  rt::UnpackMeta *meta_ = nullptr; // the host's address
  uint64_t cell_ = 0;
  const DeviceHandle *handle_ = nullptr; // in life_
  std::array<Slot, rt::kUnpackSlots> slots_;
  uint64_t posted_ = 0, consumed_ = 0;
};

// The same for PACK: the kernel fills pages that the host has chosen.
class PackSlots {
public:
  static Result<std::unique_ptr<PackSlots>> create(std::shared_ptr<Gpu> gpu);
  ~PackSlots();

  // The next message's slot is still in use by a message under way.
  bool full() const { return busy_[posted_ % rt::kUnpackSlots]; }
  // Messages that have one, one after the other.
  int room() const;
  // Takes the next slot and tells where its bytes are to go. Returns the number.
  uint64_t publish(const Runs &runs, const PagePolicy &policy);
  // Whether the kernel has written every page of this message.
  bool packed(uint64_t number) const;
  // The host knows that it has: and so it has those before.
  void setPacked(uint64_t number);
  void finish(uint64_t number) { busy_[number % rt::kUnpackSlots] = false; }

  uint32_t pages(uint64_t number) const;
  const DeviceHandle *handle() const { return &handle_; }
  KernelView view() const;

private:
  explicit PackSlots(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}

  std::shared_ptr<Gpu> gpu_;
  MappedMemory memory_;
  rt::PackMeta *meta_ = nullptr;
  uint64_t cell_ = 0;
  DeviceHandle handle_;
  std::array<bool, rt::kUnpackSlots> busy_ = {};
  uint64_t posted_ = 0;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_UNPACK_SLOTS_H
