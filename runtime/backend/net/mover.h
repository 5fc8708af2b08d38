// mover.h - copies and combines bytes on this rank: by the processor for host memory, by other
// implementations for other memory.
//
// A Mover belongs to one thread at a time. Work that it starts may run in the background; a ticket
// says when it has ended. Tickets of one mover end in the order in which they were given.

#ifndef COLL_RUNTIME_BACKEND_NET_MOVER_H
#define COLL_RUNTIME_BACKEND_NET_MOVER_H

#include "runtime/backend/backend.h"
#include "runtime/net/transport.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace coll::rt::network {

class Link;

// A message between a buffer and the transport. For host memory it is the buffer; another mover may
// use memory of its own in between.
struct MessagePart {
  net::Segment segment;    // the transport sends or receives this
  uint64_t filled = 0;     // for the mover, of a send: the work that it waits for
  void *data = nullptr;    // the buffer
  uint64_t compressed = 0; // bytes of the buffer, if the message is not a plain copy of it
  int32_t slot = 0;        // for the mover
  std::vector<int32_t> *slots = nullptr; // for the mover: the list to which the slot returns
  Link *link = nullptr;                  // for the mover, of a receive
  Link *to = nullptr;                    // for the mover, of a send that needs feed()
  int32_t pageSlot = -1;                 // of a message that has arrived: Completion::slot
};

class Mover {
public:
  using Ticket = uint64_t;
  static constexpr Ticket kDone = 0; // of work that ended at once

  virtual ~Mover() = default;

  // The mover owns the buffers until the ticket is done.
  virtual Result<Ticket> copy(void *dst, const void *src, int64_t bytes) = 0;
  // See reduceBuffers(): from left to right; `dst` may be any of the sources. The array of sources
  // is copied.
  virtual Result<Ticket> reduce(CollDtype dtype, CollReduction reduction, const void *const *srcs,
                                int numSrcs, void *dst, int64_t elems) = 0;
  // See divideBuffer().
  virtual Result<Ticket> divide(CollDtype dtype, void *dst, int64_t elems, int divisor) = 0;
  // Copies `rows` rows of rowBytes bytes; the pitches are the distances of rows.
  virtual Result<Ticket> copyRows(void *dst, int64_t dstPitch, const void *src, int64_t srcPitch,
                                  int64_t rowBytes, int64_t rows) = 0;
  virtual Result<bool> isDone(Ticket ticket) = 0;
  // Blocks until the work has ended. Use it only for work that does not wait for a peer.
  virtual Status waitFor(Ticket ticket) = 0;
  virtual Status zero(void *dst, int64_t bytes) = 0;
  // Blocks until no work in progress uses a buffer any more.
  virtual void drain() = 0;

  // The number of messages of one lane that should be in flight; at least Schedule::kWindow.
  virtual size_t window() const = 0;
  // Returns a part with the bytes at `src` for `link`, or with room for bytes to `dst` from `link`.
  // Nullopt if there is no room now. The `first` part of a lane always gets room: messages wait for
  // each other across lanes, so each lane must be able to progress. Each part ends with release().
  virtual Result<std::optional<MessagePart>> load(Link &link, const void *src, int64_t bytes,
                                                  bool first) = 0;
  virtual Result<std::optional<MessagePart>> expect(Link &link, void *dst, int64_t bytes,
                                                    bool first) = 0;
  // The transport has no room for a part that is the first of its lane. If parts of other lanes
  // could keep that room, the part is changed to need only the mover's own memory.
  virtual Status detour(MessagePart &part, bool isSend) = 0;
  // Whether a part of load() may be sent; from then on its segment is valid.
  virtual Result<bool> isFilled(MessagePart &part) = 0;
  // The transport has accepted a part with `to` as `request`. Called at once, and again before each
  // test of that request until `to` is null.
  virtual Status feed(MessagePart &part, net::Request *request) = 0;
  // The message has arrived with `segment.bytes` bytes; they are in the buffer once the ticket is
  // done. kCollPeer if the message is invalid.
  virtual Result<Ticket> unload(MessagePart &part) = 0;
  virtual void release(MessagePart &part) = 0;

  // Scratch memory into which a peer's data may be received, freed by release(). Null if there is
  // none.
  virtual Result<char *> allocate(int64_t bytes) = 0;
  virtual void release(char *memory) = 0;
};

// For host memory; everything is done when the call returns. Keeps a few scratch buffers.
std::unique_ptr<Mover> createHostMover();

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_MOVER_H
