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

  // Takes blocks for `bytes` bytes. False if there is no room.
  bool take(BouncePool::Account &account, uint64_t bytes, bool spread);
  void give(BouncePool::Account &account);
  uint64_t bytes() const { return count * BouncePool::kBlockBytes; }
};

// The kUnpackSlots slots of a connection. With SlotOrder::Posts they are a queue: message number n,
// from 0, has slot n % kUnpackSlots and is posted, published, and consumed in order. With
// SlotOrder::Landing nothing is posted, the number is that of a free slot, and slots are consumed
// in any order. One thread at a time may use it; the GPU reads what is published.
class UnpackSlots {
public:
  // Pins the descriptors and puts a handle into GPU memory; may wait for the GPU.
  static Result<std::unique_ptr<UnpackSlots>> create(std::shared_ptr<Gpu> gpu,
                                                     BouncePool::Account &account);
  ~UnpackSlots();

  bool full() const { return posted_ - consumed_ == rt::kUnpackSlots; }
  uint64_t post() { return posted_++; } // must not be full; returns the number
  int32_t freeSlot() const;             // -1: none
  // Writes descriptors and count, and releases. Takes over the blocks. Without runs the message is
  // empty. Returns the number of pages.
  uint32_t publish(uint64_t number, const Runs &runs, const PagePolicy &policy,
                   const BlockList &blocks);
  // Writes the same descriptors and count again, from a copy that the GPU cannot access. False if
  // the slot holds no message.
  bool publishAgain(int32_t slot);
  // Frees slot and blocks of the oldest message. False if it was not published, or there is
  // none.
  bool consume();
  // The same for one slot.
  bool consume(int32_t slot);
  // Consumes the published messages before `number`.
  void consumeBefore(uint64_t number);
  uint64_t posted() const { return posted_; }
  // Frees all blocks. No kernel may use the handle any more.
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
  uint32_t write(uint64_t index); // writes the words that the GPU reads

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

  // Whether a message in flight still uses the slot of the next message.
  bool full() const { return busy_[posted_ % rt::kUnpackSlots]; }
  // The number of further messages, one after the other, that would find a slot.
  int room() const;
  // Takes the next slot, and writes the places of its bytes into it. Returns the number.
  uint64_t publish(const Runs &runs, const PagePolicy &policy);
  // Whether the kernel has written every page of this message.
  bool packed(uint64_t number) const;
  // Records that the kernel has written this message and all earlier ones.
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
