// unpack_layout.h - page descriptors, which the network writes and a kernel reads.
//
// Data of one message arrives in pages of a bounce buffer, in any order. Each page has a descriptor
// that says where its bytes belong. UNPACK moves bounce -> buffer after a receive; PACK moves
// buffer -> bounce before a send. Both use the same descriptor, so that a page can be sent from
// where it was received.
//
// UNPACK is bit for bit what stock NCCL expects of a net plugin's device handle (net
// device type 1, version 0x7). Source: NCCL v2.19 to v2.30, src/device/network/unpack/
// unpack_defs.h (loadMeta, netUnpackMeta, unpackNetDeviceHandle) and src/include/
// nccl_net_device.h (the version). PACK is this project's own.
//
// **UNPACK, who writes what.** The host fills pages[slot] as data arrives, sets count[slot] when
// the message is complete, releases, and only then reports the receive as done: count is not a
// readiness flag, and no code polls it. The kernel learns of the message by other means (NCCL's
// tail, a channel's step counter), which it acquires. It increments head *before* use; the slot is
// head % kUnpackSlots. A message of zero pages consumes a slot too (count 0). A slot is free again
// when its message was consumed.
//
// **PACK, who writes what.** The host fills pages[slot] and count[slot] and tells the kernel, as
// above. The kernel writes the pages, then raises `packed`.

#ifndef COLL_RUNTIME_BASE_UNPACK_LAYOUT_H
#define COLL_RUNTIME_BASE_UNPACK_LAYOUT_H

#include <cstddef>
#include <cstdint>

namespace coll::rt {

// NCCL_NET_DEVICE_UNPACK_VERSION. Sides with different versions must not talk to each other.
inline constexpr int32_t kUnpackVersion = 0x7;
inline constexpr int32_t kUnpackVersionInvalid = 0x0;
inline constexpr int32_t kPackVersion = 0x1;

// Messages of one connection that can be in flight (NET_UNPACK_MAX_QUEUE_DEPTH).
inline constexpr uint32_t kUnpackSlots = 16;
// The most bytes of one message, and the page size that NCCL's own kernel counts in.
inline constexpr uint64_t kUnpackMaxSliceBytes = 4u << 20;
inline constexpr uint32_t kUnpackPageBytes = 4096;
// Twice what the page size needs, for pages that are not full (NET_UNPACK_MAX_SLICE_PAGES).
inline constexpr uint32_t kUnpackSlotPages = 2048;
// head before the first message: the kernel increments before use, so the first slot is 0.
inline constexpr uint64_t kUnpackHeadStart = static_cast<uint64_t>(-1);

// One page. NCCL calls the fields src_off, len, dst_off. bounceOff has 32 bits, so a bounce buffer
// ends at 4 GiB. NCCL's own kernel derives the alignment of the addresses from the two offsets
// alone, so both bases must be aligned to 16 bytes.
struct alignas(16) PageDescriptor {
  uint32_t bounceOff; // of the page's first byte in the bounce buffer
  uint32_t len;       // bytes
  uint64_t bufferOff; // of the same byte in the message's buffer
};

// Written by the host, read by the GPU: pinned host memory mapped for the GPU, or GPU
// memory mapped for the host. Aligned to 16 bytes at least.
struct UnpackMeta {
  PageDescriptor pages[kUnpackSlots][kUnpackSlotPages];
  uint64_t count[kUnpackSlots]; // pages of the slot
};

// In GPU memory; DeviceHandle::handle points at it. The kernel loads head when it
// starts and saves it when it ends.
struct UnpackHandle {
  UnpackMeta *meta;
  void *bounce; // NCCL keeps one per block: all connections of a GPU share one
  uint64_t head;
};

// PACK's descriptors, and how far the kernel has got.
struct PackMeta {
  PageDescriptor pages[kUnpackSlots][kUnpackSlotPages];
  uint64_t count[kUnpackSlots];
  // Messages packed since the start: the kernel stores head + 1, with release at system
  // scope, once every byte of that message is in the bounce buffer. Alone in its line.
  alignas(128) uint64_t packed;
};

struct PackHandle {
  PackMeta *meta;
  void *bounce;
  uint64_t head; // starts at kUnpackHeadStart
};

static_assert(sizeof(PageDescriptor) == 16 && offsetof(PageDescriptor, len) == 4 &&
              offsetof(PageDescriptor, bufferOff) == 8);
static_assert(kUnpackSlotPages == kUnpackMaxSliceBytes / kUnpackPageBytes * 2);
static_assert(offsetof(UnpackMeta, count) == 524288 && sizeof(UnpackMeta) == 524416);
static_assert(sizeof(UnpackHandle) == 24 && offsetof(UnpackHandle, bounce) == 8 &&
              offsetof(UnpackHandle, head) == 16);
static_assert(offsetof(PackMeta, count) == 524288 && offsetof(PackMeta, packed) % 128 == 0);
static_assert(sizeof(PackHandle) == 24);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_UNPACK_LAYOUT_H
