// transport.h - a transport whose messages may start and end in GPU memory.
//
//   auto transport = createDeviceTransport(std::move(tcp), *cuda, options);
//   auto memory = transport->regMr(device, {gpuPointer, bytes, MemoryKind::Cuda});
//   Segment segment{gpuPointer, bytes, *memory};
//   auto request = connection->irecv(&segment, 1, tag);
//
// It decorates any transport; host memory passes through untouched. A segment is GPU
// memory if and only if its `memory` was registered as MemoryKind::Cuda. Such a request
// has one segment. How it is received:
//
//  - direct, where the transport below reaches the memory itself: a NIC beside the GPU, or
//    memory that is the host's after all. No copy, no descriptors.
//  - UNPACK, on connections with a device handle: data lands in the GPU's bounce pool,
//    test() writes page descriptors and reports done, the caller's kernel moves the pages.
//  - HOST, else: it lands in the bounce pool, an asynchronous copy on a private stream
//    moves it, and it is done when that has ended.
//
// And how it is sent:
//
//  - direct, as above.
//  - PACK, with SendPath::Pack: isend() writes page descriptors, the caller's kernel fills
//    the pages and raises PackMeta::packed, then they are sent.
//  - HOST, else: an asynchronous copy into the bounce pool, then it is sent.
//
// **The kernel's part.** Connection::deviceHandle() of a connection that was accepted
// (NCCL allocates handles for receives only), or of any connection with unpackOnConnect,
// describes a rt::UnpackHandle in GPU memory; packHandle() a rt::PackHandle. Every irecv
// of GPU memory takes the next of kUnpackSlots slots, in the order of the posts, even if
// it turns out to be empty, direct, staged (count 0) or failed: the kernel counts
// messages, not bytes. A slot may be read only after test() has reported `done`; the
// caller tells the kernel. The slot, and with it the pages, are used again after
// consumed(), or after `implicitConsume` later posts. (A caller that tells its kernel
// which slot to read need not keep that order: SlotOrder.) isend() of GPU memory likewise
// takes the next pack slot, which the kernel may read from when isend() has returned the
// request until that is done.
//
// **Limits.** A request of GPU memory has at most kMaxDeviceMessageBytes; a longer one is
// refused with kCollInvalidCall. Host memory has the limits of the transport below. If the
// bounce pool has no room, posts return null (back-pressure); each connection always gets
// room for one message, so connections cannot starve each other.
//
// **Threads** as transport.h. While messages move, only the HOST paths call CUDA.

#ifndef COLL_RUNTIME_NET_GPU_TRANSPORT_H
#define COLL_RUNTIME_NET_GPU_TRANSPORT_H

#include "runtime/base/unpack_layout.h"
#include "runtime/dl/cuda.h"
#include "runtime/net/gpu/bounce_pool.h"
#include "runtime/net/gpu/page_policy.h"
#include "runtime/net/transport.h"

namespace coll::net {

inline constexpr uint64_t kMaxDeviceMessageBytes = rt::kUnpackMaxSliceBytes;

enum class ReceivePath { Auto, Host, Unpack }; // Auto: Unpack if data arrives scattered
enum class SendPath { Host, Pack };
// Assigns slots to receives.
//
//  - Posts: as above. Messages may land in any order, but their slots are free again in
//    that of the posts only: one that is late holds up those after it.
//  - Landing: a message that is to be unpacked takes a free slot when it has landed.
//    test() is done once there is one, and Completion::slot names it; consumed(slot) frees
//    it, in any order. What is empty, failed, direct or staged has none.
enum class SlotOrder { Posts, Landing };

struct DeviceOptions {
  ReceivePath receive = ReceivePath::Auto;
  SendPath send = SendPath::Host;
  // Receives of fewer bytes than this go the HOST way on UNPACK connections too.
  uint64_t unpackThreshold = 0;
  PagePolicy pages = kPagesForNccl;
  // Sends messages as shuffled fragments, and expects the same of the peer, like a network that
  // delivers datagrams. Both sides must agree, which is checked.
  bool scatter = false;
  uint64_t bounceBytes = uint64_t(2) << 30; // limit of one GPU's pool
  // The pool grows by this for each connection and direction that uses it.
  uint64_t roomBytes = 32 << 20;
  // The GPU whose kernels serve the connections; -1: the current one of the thread that calls
  // accept() or poll().
  int gpu = -1;
  // The connecting side gets a device handle as well.
  bool unpackOnConnect = false;
  SlotOrder slots = SlotOrder::Posts;
  // 0: consumed() frees slots, as SlotOrder::Landing requires. Otherwise consumed() has no effect,
  // and a slot is freed by the n-th later post of a receive. NCCL has at most 8 steps in flight, so
  // 8 is right for it.
  int implicitConsume = 0;
  // What has decided about `receive` and `unpackThreshold`, and why; for users.
  std::string chosenBy = "the default";
  bool isByTable = false;

  // From COLL_NET_DEVICE_UNPACK (or NCCL_NET_DEVICE_UNPACK_ENABLED),
  // COLL_NET_DEVICE_UNPACK_THRESHOLD (or NCCL_…), COLL_NET_DEVICE_PAGES,
  // COLL_NET_SCATTER and COLL_NET_BOUNCE_BYTES. kCollInvalidCall names a wrong value.
  static Result<DeviceOptions> fromEnv();
  // The same, but if neither of the first two is set, the table of COLL_ROUTES decides if it has
  // paths for this transport ("tcp"): UNPACK if its largest messages go that way, with a threshold
  // if smaller ones are the host's. kCollInvalidCall also names what is wrong with the table.
  static Result<DeviceOptions> fromEnvAndTable(const std::string &transport);

  // Resolves Auto.
  bool unpacks() const {
    return receive == ReceivePath::Unpack || (receive == ReceivePath::Auto && scatter);
  }
};

// Messages of GPU memory by the way they took, since the start. Failed ones are not
// counted.
struct DeviceStats {
  uint64_t unpackedMessages = 0, unpackedPages = 0, unpackedBytes = 0;
  uint64_t packedMessages = 0, packedPages = 0, packedBytes = 0;
  uint64_t stagedReceives = 0, stagedSends = 0, stagedBytes = 0;
  uint64_t directReceives = 0, directSends = 0;
  uint64_t republished = 0; // slots, for kernels that found them damaged
  uint64_t refused = 0;     // posts that found no slot or no pages
};

// What a kernel needs besides the slot number, for callers that pass it themselves. Addresses of
// the GPU; zeros if there is none.
struct KernelView {
  uint64_t meta = 0; // rt::UnpackMeta or rt::PackMeta
  uint64_t bounce = 0;
  uint64_t bounceBytes = 0; // descriptors end below it
};

// The type of connections that accept() and poll() of a DeviceTransport return: static_cast is
// safe.
class DeviceConnection : public Connection {
public:
  // With SlotOrder::Landing: the kernel has finished the message that test() named by this slot.
  using Connection::consumed;
  virtual void consumed(int32_t slot) = 0;
  // Writes the descriptors of a slot again, from the host's own memory, for a kernel that found
  // them damaged and skipped that slot. test() has reported the slot, and it is not consumed.
  virtual Status republish(int32_t slot) = 0;
  virtual KernelView unpackView() const = 0;
  virtual KernelView packView() const = 0;
  // Sends of GPU memory that would find a pack slot now, one after the other.
  virtual int packRoom() const = 0;
  // For callers that fill pages by a kernel of another kind, or that do not use PackMeta::packed:
  // the places of a send's bytes in the bounce buffer (none if no kernel is waited for); and the
  // report that these bytes, and those of all earlier sends, are there.
  virtual std::vector<rt::PageDescriptor> packPages(const Request *request) const = 0;
  virtual void packed(const Request *request) = 0;
};

class DeviceTransport : public Transport {
public:
  virtual DeviceStats stats() const = 0;
  // The pool of GPU `ordinal`; zeros if no connection uses one.
  virtual BounceStats bounceStats(int ordinal) const = 0;
};

// `cuda` outlives the transport. regMr() accepts MemoryKind::Host and MemoryKind::Cuda; data null
// and bytes ~0 with Cuda stand for all memory of GPU `options.gpu` (or the current one), which is
// then never used directly.
Result<std::unique_ptr<DeviceTransport>> createDeviceTransport(std::unique_ptr<Transport> inner,
                                                               const rt::dl::Cuda &cuda,
                                                               const DeviceOptions &options);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_TRANSPORT_H
