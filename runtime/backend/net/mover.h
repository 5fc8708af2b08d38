// mover.h - who copies and combines bytes on this rank: the processor for host memory,
// another implementation for memory of another kind.
//
// A Mover belongs to one thread at a time. What it starts may go on by itself; a ticket says
// when it has ended. Tickets of one mover end in the order in which they were given.

#ifndef COLL_RUNTIME_BACKEND_NET_MOVER_H
#define COLL_RUNTIME_BACKEND_NET_MOVER_H

#include "runtime/backend/backend.h"
#include "runtime/net/transport.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace coll::rt::network {

class Link;

// A message on its way between a buffer and the transport. For host memory it is the
// buffer; another mover may put a place of its own in between.
struct Parcel {
  net::Segment segment;                  // what the transport gets
  uint64_t filled = 0;                   // the mover's, of a send: what it waits for
  void *data = nullptr;                  // the buffer
  uint64_t compressed = 0;               // bytes of the buffer, if the message is not just those
  int32_t slot = 0;                      // the mover's
  std::vector<int32_t> *slots = nullptr; // the mover's: where the slot goes back to
  Link *link = nullptr;                  // the mover's, of a receive
  Link *to = nullptr;                    // the mover's, of a send that feed() has to see to
  int32_t pageSlot = -1;                 // of a receive that has come: Completion::slot
};

class Mover {
public:
  using Ticket = uint64_t;
  static constexpr Ticket kDone = 0; // of what ended at once

  virtual ~Mover() = default;

  // The buffers stay the mover's until the ticket is done.
  virtual Result<Ticket> copy(void *dst, const void *src, int64_t bytes) = 0;
  // As reduceBuffers(): left to right; `dst` may be any of the sources. The array of
  // sources is copied.
  virtual Result<Ticket> reduce(CollDtype dtype, CollReduction reduction, const void *const *srcs,
                                int numSrcs, void *dst, int64_t elems) = 0;
  // As divideBuffer().
  virtual Result<Ticket> divide(CollDtype dtype, void *dst, int64_t elems, int divisor) = 0;
  // `rows` rows of rowBytes bytes, so many bytes apart.
  virtual Result<Ticket> copyRows(void *dst, int64_t dstPitch, const void *src, int64_t srcPitch,
                                  int64_t rowBytes, int64_t rows) = 0;
  virtual Result<bool> isDone(Ticket ticket) = 0;
  // Block until it has ended; only what waits for no peer is waited for.
  virtual Status waitFor(Ticket ticket) = 0;
  virtual Status zero(void *dst, int64_t bytes) = 0;
  // Blocks until nothing that was begun touches a buffer any more.
  virtual void drain() = 0;

  // Messages of one lane that are worth having under way at once; at least
  // Schedule::kWindow.
  virtual size_t window() const = 0;
  // A parcel with the bytes at `src` for `link`, or a place for bytes to `dst` from `link`; nullopt
  // where there is no room now, but never for the `first` of a lane: messages wait for
  // each other across lanes, so each lane has to be able to move. Each ends with release().
  virtual Result<std::optional<Parcel>> load(Link &link, const void *src, int64_t bytes,
                                             bool first) = 0;
  virtual Result<std::optional<Parcel>> expect(Link &link, void *dst, int64_t bytes,
                                               bool first) = 0;
  // The transport has no room for a parcel that is the first of its lane: where that may be for
  // parcels of other lanes, it becomes one that needs none but the mover's own.
  virtual Status detour(Parcel &parcel, bool isSend) = 0;
  // Whether a parcel of load() may go; from then on its segment says what goes.
  virtual Result<bool> isFilled(Parcel &parcel) = 0;
  // The transport has a parcel with `to` as `request`: called at once, and before each test of that
  // until `to` is null.
  virtual Status feed(Parcel &parcel, net::Request *request) = 0;
  // The message has come, `segment.bytes` of it: its bytes are in the buffer once the ticket is
  // done. kCollPeer where it is none.
  virtual Result<Ticket> unload(Parcel &parcel) = 0;
  virtual void release(Parcel &parcel) = 0;

  // Scratch memory that a peer's data may land in, given back by release(). Null where
  // there is none.
  virtual Result<char *> allocate(int64_t bytes) = 0;
  virtual void release(char *memory) = 0;
};

// Host memory; everything is done when the call returns. Keeps a few scratch buffers.
std::unique_ptr<Mover> createHostMover();

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_MOVER_H
