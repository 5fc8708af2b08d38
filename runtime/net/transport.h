// transport.h - messages and remote memory between two processes.
//
//   Result<std::unique_ptr<Listener>> listener = transport.listen(device);
//   …listener->handle() reaches the peer, for example through the bootstrap…
//   Result<std::unique_ptr<Connector>> connector = transport.connect(device, handle);
//   …connector->poll() and listener->accept() until both give a Connection…
//
// **Nothing blocks**, except close() and deregMr(), which wait for running system calls but not for
// the peer. Work that a call starts progresses by itself: a transport has its own threads if it
// needs them, and serves the peer's one-sided operations while the application does something else.
//
// **Threads.** Every function of Transport and Listener may be called from any thread.
// On a Connection any thread may post; a request is tested by one thread at a time;
// close() and the destructor exclude all other calls on that connection.
//
// **Ownership.** A posted buffer belongs to the transport until the request is done or has failed,
// or the connection was closed. A Request belongs to its connection; it must not be used after
// test() has reported its end. A Memory has to outlive the requests that name it; a connection must
// be destroyed before its transport.
//
// **Order.** Messages with the same tag arrive in the order in which one thread sent
// them and match receives in the order in which those were posted. Between tags, and
// between one-sided operations, there is no order.
//
// **Failure.** An error of a connection ends that connection and all its requests, and no other.
// The code says what must be rebuilt (runtime/base/codes.h): kCollLink and kCollPeer the
// connection; kCollInvalidCall and kCollMismatch concern only the request.

#ifndef COLL_RUNTIME_NET_TRANSPORT_H
#define COLL_RUNTIME_NET_TRANSPORT_H

#include "runtime/base/status.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace coll::net {

using rt::Result;
using rt::Status;

// The kind of a buffer's memory. A transport lists the kinds that it accepts.
enum class MemoryKind : uint32_t { Host = 1, Cuda = 2, Dmabuf = 4 };

// How received data reaches a GPU. The numbers are NCCL's net device types.
enum class DeviceType : int32_t { Host = 0, Unpack = 1 };

// The data that a kernel needs to take part in a connection; see Connection::deviceHandle().
struct DeviceHandle {
  DeviceType type = DeviceType::Host;
  int32_t version = 0;    // of the layout behind `handle`; must be the same on both sides
  void *handle = nullptr; // GPU memory
  uint64_t bytes = 0;
  bool needsProgress = false; // the kernel progresses only if test() is called
};

struct DeviceProperties {
  std::string name;    // "eth0"
  std::string address; // as a user would write it; empty if there is none
  std::string pciPath; // empty if unknown
  uint64_t guid = 0;   // equal for devices that share hardware
  int32_t port = 0;
  int32_t speedMbps = 0;                                          // 0: unknown
  float latencyUs = 0;                                            // 0: unknown
  uint32_t memoryKinds = static_cast<uint32_t>(MemoryKind::Host); // bits of MemoryKind
  int32_t maxSegments = 1;                                        // buffers of one request
  int32_t maxRequests = 1; // outbound ones of one connection, and as many inbound ones
  uint64_t maxMessageBytes = 0;
  bool needsFlush = false;          // received GPU data is visible only after iflush()
  bool registrationIsGlobal = true; // a Memory serves all connections of the device
  DeviceType deviceType = DeviceType::Host;
  int32_t deviceVersion = 0;
};

// The data that a peer needs to connect. Plain bytes, which may be copied, stored and sent. The
// size is NCCL's limit.
struct Handle {
  static constexpr size_t kBytes = 128;
  std::array<uint8_t, kBytes> bytes = {};
};

// Names registered memory to a peer. Plain data. `key` cannot be guessed; every authenticated peer
// that has it may read and write the memory until deregMr().
struct RemoteKey {
  uint64_t key = 0;
  uint64_t address = 0; // for transports that address by it
  uint64_t bytes = 0;
};

// The part of the peer's memory that a read covers: everything from `offset` on or, with
// `rowBytes`, rows of that many bytes that begin `stride` bytes apart, as many as there are bytes
// to read.
struct RemoteRows {
  RemoteRows(uint64_t from = 0, uint32_t row = 0, uint64_t apart = 0)
      : offset(from), stride(apart), rowBytes(row) {}

  uint64_t offset;
  uint64_t stride;   // at least rowBytes
  uint32_t rowBytes; // 0: in one piece

  // Whether `bytes` bytes of it are complete rows, at most kMaxRemoteRows, that do not overlap.
  bool areRows(uint64_t bytes) const;
  // The same, and whether they are inside memory of `size` bytes.
  bool fit(uint64_t bytes, uint64_t size) const;
  // The offset of byte `position` of the data that is read, and how many contiguous bytes follow
  // it.
  uint64_t at(uint64_t position) const;
  uint64_t following(uint64_t position) const;
};
inline constexpr uint64_t kMaxRemoteRows = 4096; // of one read

// Memory that a device may use directly.
class Memory {
public:
  virtual ~Memory() = default;
  virtual RemoteKey remoteKey() const = 0;
};

// A request to register `bytes` bytes at `data`. Dmabuf: also the file descriptor and
// the offset in it; `data` is then the address that segments use.
struct MemoryRegion {
  void *data = nullptr;
  uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::Host;
  int dmabufFd = -1; // the caller keeps and closes it
  uint64_t dmabufOffset = 0;
};

// One buffer of a request. `memory` may be null if the transport accepts unregistered host memory
// (tcp, loopback).
struct Segment {
  void *data = nullptr;
  uint64_t bytes = 0;
  const Memory *memory = nullptr;
};

// A request in flight. Only its connection knows its content.
class Request {
protected:
  ~Request() = default;
};

struct Completion {
  bool done = false;
  uint64_t bytes = 0; // if done: length of the message or of the transfer
  // For GPU memory that a kernel has to unpack, with SlotOrder::Landing; otherwise -1.
  int32_t slot = -1;
};

// The part of a message that one socket or queue pair moves; for profilers.
struct MessagePart {
  uint32_t stream = 0; // 0 carries small messages
  uint64_t bytes = 0;
  int64_t startNs = 0; // CLOCK_MONOTONIC: known at this end (of a receive: its header has arrived)
  int64_t endNs = 0;   // completely written to, or read from, the kernel; 0: not yet
};

// Both directions between two processes. Every post returns null if no more requests fit
// (back-pressure): test the ones in flight, then post again. A request of `count` segments moves
// their concatenation; count 0 and empty segments are allowed.
class Connection {
public:
  virtual ~Connection() = default; // closes

  // Done when the buffers may be reused; the peer may not have received the message yet.
  virtual Result<Request *> isend(const Segment *segments, int count, uint64_t tag) = 0;
  // Receives the next message with this tag. If the message is too long, this request fails with
  // kCollMismatch, and so does the sender's if it is still in flight; the buffers' content is then
  // undefined, and nothing outside them is written.
  virtual Result<Request *> irecv(const Segment *segments, int count, uint64_t tag) = 0;

  // Moves the segments to [offset, offset + their bytes) of the peer's memory, or from `rows` of
  // it, without a call by the peer's application. Done when the peer's memory was written or read.
  // A wrong key or range fails the request with kCollInvalidCall.
  virtual Result<Request *> iwrite(const Segment *segments, int count, const RemoteKey &key,
                                   uint64_t offset) = 0;
  virtual Result<Request *> iread(const Segment *segments, int count, const RemoteKey &key,
                                  const RemoteRows &rows) = 0;

  // Makes data that was received into these segments visible to their GPU. For host memory the
  // request is done at once.
  virtual Result<Request *> iflush(const Segment *segments, int count) = 0;

  // Whether the request has ended. After an error, or `done`, the request must not be used again.
  virtual Result<Completion> test(Request *request) = 0;

  // A hint that the caller will not test for a while, for example because it goes to sleep.
  // Requests then progress up to a millisecond sooner.
  virtual void rest() {}

  // The known parts of a message that is in flight or that test() has just reported. Call it before
  // the next post on this connection. Returns their number, at most `max`; 0 if the transport does
  // not report parts.
  virtual int parts(const Request *, MessagePart *, int /*max*/) const { return 0; }

  // Reports that the kernel behind deviceHandle() has finished the oldest message that was not
  // consumed yet. Has no effect without a device handle.
  virtual void consumed() {}
  // Null if received data needs no kernel. Valid as long as the connection.
  virtual const DeviceHandle *deviceHandle() const { return nullptr; }
  // The same for a kernel that gathers the data that is sent; version rt::kPackVersion.
  virtual const DeviceHandle *packHandle() const { return nullptr; }

  // Ends the connection. Requests that are done are delivered if the peer still reads; requests in
  // flight fail, at this end with kCollAborted, at the peer's with kCollPeer or kCollLink.
  // Afterwards no buffer is used, and every post is rejected.
  virtual void close() = 0;
  // Like close(), but nothing that the peer has in flight is received any more, not even into
  // registered memory. Requests that are done may not be delivered.
  virtual void abort() { close(); }
};

class Listener {
public:
  virtual ~Listener() = default; // accepted connections are kept
  virtual const Handle &handle() const = 0;
  // The next connection, or null if none is ready. Only proven peers are returned.
  virtual Result<std::unique_ptr<Connection>> accept() = 0;
};

class Connector {
public:
  virtual ~Connector() = default; // gives up the attempt
  // Returns the connection, once; null while it is being set up.
  virtual Result<std::unique_ptr<Connection>> poll() = 0;
};

// How long the destructor of a transport waits until peers have received what closed connections
// sent.
inline constexpr int64_t kLingerUs = 2'000'000, kHurriedLingerUs = 500'000;

class Transport {
public:
  virtual ~Transport() = default;
  virtual const char *name() const = 0;
  // By device number, best first. At least one.
  virtual const std::vector<DeviceProperties> &devices() const = 0;
  // Whether a new connection of this device would use it. False if its port is down: then the
  // connection would use another port, or none.
  virtual bool isUp(int /*device*/) const { return true; }

  // The job has failed, so peers may not respond: from now on, the transport's destructor waits at
  // most kHurriedLingerUs instead of kLingerUs for the peers of connections that were closed. Any
  // thread may call it.
  virtual void hurry() {}

  virtual Result<std::unique_ptr<Listener>> listen(int device) = 0;
  virtual Result<std::unique_ptr<Connector>> connect(int device, const Handle &handle) = 0;

  // kCollUnsupported for a kind that the device does not list.
  virtual Result<Memory *> regMr(int device, const MemoryRegion &region) = 0;
  // Afterwards no peer accesses the memory. A peer in the middle of a read loses its connection; in
  // the middle of a write it gets an error for that write.
  virtual void deregMr(Memory *memory) = 0;
};

// Tests until the request ends. kCollTimeout after timeoutUs; the request is then still in flight,
// and its buffers must not be used before close().
Result<uint64_t> wait(Connection &connection, Request *request, int64_t timeoutUs);

// Sum of the segments' bytes, or an error for arguments that no transport accepts: a negative
// count, too many segments or bytes, a null pointer with bytes.
Result<uint64_t> totalBytes(const Segment *segments, int count, const DeviceProperties &properties);
// The same for a read, or an error if one request cannot name these rows.
Result<uint64_t> totalBytes(const Segment *segments, int count, const RemoteRows &rows,
                            const DeviceProperties &properties);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_TRANSPORT_H
