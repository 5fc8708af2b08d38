// transport.h - a transport whose messages may start and end in GPU memory.
//
//   auto transport = createDeviceTransport(std::move(tcp), *cuda, options);
//   auto memory = transport->regMr(device, {gpuPointer, bytes, MemoryKind::Cuda});
//   Segment segment{gpuPointer, bytes, *memory};
//   auto request = connection->irecv(&segment, 1, tag);
//
// It decorates any transport; requests of host memory are passed on. A segment is GPU memory if and
// only if its `memory` was registered as MemoryKind::Cuda. Such a request has one segment. It is
// received in one of these ways:
//
//  - direct, if the transport below reaches the memory itself: a NIC beside the GPU, or
//    memory that is actually host memory. No copy, no descriptors.
//  - UNPACK, on connections with a device handle: data arrives in the GPU's bounce pool,
//    test() writes page descriptors and reports done, the caller's kernel moves the pages.
//  - HOST, otherwise: data arrives in the bounce pool, and an asynchronous copy on a private
//    stream moves it; the request is done when the copy has ended.
//
// It is sent in one of these ways:
//
//  - direct, as above.
//  - PACK, with SendPath::Pack: isend() writes page descriptors, the caller's kernel fills
//    the pages and raises PackMeta::packed, then they are sent.
//  - HOST, otherwise: an asynchronous copy into the bounce pool, then it is sent.
//
// **The kernel's part.** Connection::deviceHandle() of a connection that was accepted (NCCL
// allocates handles for receives only), or of any connection with unpackOnConnect, describes a
// rt::UnpackHandle in GPU memory; packHandle() a rt::PackHandle. Every irecv of GPU memory takes
// the next of kUnpackSlots slots, in the order of the posts, even if it turns out to be empty,
// direct, staged (count 0) or failed: the kernel counts messages, not bytes. A slot may be read
// only after test() has reported `done`; the caller tells the kernel. The slot and its pages are
// reused after consumed(), or after `implicitConsume` later posts. (A caller that tells its kernel
// which slot to read need not keep that order: SlotOrder.) isend() of GPU memory takes the next
// pack slot in the same way; the kernel may read it from when isend() has returned the request
// until the request is done.
//
// **Limits.** A request of GPU memory has at most kMaxDeviceMessageBytes; a longer one fails with
// kCollInvalidCall. Host memory has the limits of the transport below. If the bounce pool has no
// room, posts return null (back-pressure); each connection always gets room for one message, so
// connections cannot starve each other.
//
// **Threads**: see net/transport.h. While messages move, only the HOST paths call CUDA.

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
//  - Posts: as above. Messages may arrive in any order, but their slots are freed only in the order
//    of the posts: a late message delays the slots after it.
//  - Landing: a message that is to be unpacked takes a free slot when it has arrived.
//    test() is done once it has one, and Completion::slot names it; consumed(slot) frees
//    it, in any order. A message that is empty, failed, direct or staged has no slot.
enum class SlotOrder { Posts, Landing };

struct DeviceOptions {
  ReceivePath receive = ReceivePath::Auto;
  SendPath send = SendPath::Host;
  // Receives of fewer bytes than this take the HOST path even on UNPACK connections.
  uint64_t unpackThreshold = 0;
  PagePolicy pages = kPagesForNccl;
  // Sends messages as shuffled fragments, like a network that delivers datagrams, and expects the
  // same from the peer. Both sides must agree, which is checked.
  bool scatter = false;
  uint64_t bounceBytes = uint64_t(2) << 30; // limit of one GPU's pool
  // The pool grows by this for each connection and direction that uses it.
  uint64_t roomBytes = 32 << 20;
  // The GPU whose kernels serve the connections; -1: the current one of the thread that calls
  // accept() or poll().
  int gpu = -1;
  // The connecting side gets a device handle, too.
  bool unpackOnConnect = false;
  SlotOrder slots = SlotOrder::Posts;
  // 0: consumed() frees slots, as SlotOrder::Landing requires. Otherwise consumed() has no effect,
  // and the n-th later post of a receive frees a slot. NCCL has at most 8 steps in flight, so 8
  // suits it.
  int implicitConsume = 0;
  // For users: what has decided about `receive` and `unpackThreshold`, and why.
  std::string chosenBy = "the default";
  bool isByTable = false;

  // From COLL_NET_DEVICE_UNPACK (or NCCL_NET_DEVICE_UNPACK_ENABLED),
  // COLL_NET_DEVICE_UNPACK_THRESHOLD (or NCCL_…), COLL_NET_DEVICE_PAGES,
  // COLL_NET_SCATTER and COLL_NET_BOUNCE_BYTES. kCollInvalidCall names a wrong value.
  static Result<DeviceOptions> fromEnv();
  // The same, but if neither of the first two variables is set and the table of COLL_ROUTES has
  // paths for this transport ("tcp"), the table decides: UNPACK if that is the path of its largest
  // messages, with a threshold if the host copies smaller ones. kCollInvalidCall also names what is
  // wrong with the table.
  static Result<DeviceOptions> fromEnvAndTable(const std::string &transport);

  // Resolves Auto.
  bool unpacks() const {
    return receive == ReceivePath::Unpack || (receive == ReceivePath::Auto && scatter);
  }
};

// Numbers of messages of GPU memory by their path, since the start. Failed messages are not
// counted.
struct DeviceStats {
  uint64_t unpackedMessages = 0, unpackedPages = 0, unpackedBytes = 0;
  uint64_t packedMessages = 0, packedPages = 0, packedBytes = 0;
  uint64_t stagedReceives = 0, stagedSends = 0, stagedBytes = 0;
  uint64_t directReceives = 0, directSends = 0;
  uint64_t republished = 0; // slots, for kernels that found them damaged
  uint64_t refused = 0;     // posts that found no slot or no pages
};

// The data that a kernel needs besides the slot number, for callers that pass it themselves.
// Addresses of the GPU; zeros if there is none.
struct KernelView {
  uint64_t meta = 0; // rt::UnpackMeta or rt::PackMeta
  uint64_t bounce = 0;
  uint64_t bounceBytes = 0; // descriptors end below it
};

// The type of connections that accept() and poll() of a DeviceTransport return: static_cast is
// safe.
class DeviceConnection : public Connection {
public:
  // With SlotOrder::Landing: the kernel has finished the message whose slot test() returned.
  using Connection::consumed;
  virtual void consumed(int32_t slot) = 0;
  // Writes the descriptors of a slot again, from the host's own memory, for a kernel that found
  // them damaged and skipped that slot. test() has reported the slot, and it is not consumed.
  virtual Status republish(int32_t slot) = 0;
  virtual KernelView unpackView() const = 0;
  virtual KernelView packView() const = 0;
  // The number of sends of GPU memory, one after the other, that would find a pack slot now.
  virtual int packRoom() const = 0;
  // For callers that fill pages by another kernel, or that do not use PackMeta::packed: the places
  // of a send's bytes in the bounce buffer (none if the send does not wait for a kernel); and the
  // report that these bytes, and those of all earlier sends, have been written.
  virtual std::vector<rt::PageDescriptor> packPages(const Request *request) const = 0;
  virtual void packed(const Request *request) = 0;
};

class DeviceTransport : public Transport {
public:
  virtual DeviceStats stats() const = 0;
  // The pool of GPU `ordinal`; zeros if no connection uses one.
  virtual BounceStats bounceStats(int ordinal) const = 0;
};

// `cuda` outlives the transport. regMr() accepts MemoryKind::Host and MemoryKind::Cuda. With Cuda,
// null data and ~0 bytes stand for all memory of GPU `options.gpu` (or the current one), which is
// then never used directly.
Result<std::unique_ptr<DeviceTransport>> createDeviceTransport(std::unique_ptr<Transport> inner,
                                                               const rt::dl::Cuda &cuda,
                                                               const DeviceOptions &options);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_TRANSPORT_H
