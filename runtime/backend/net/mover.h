// mover.h - who copies and combines bytes on this rank: the processor for host memory,
// another implementation for memory of another kind.
//
// A Mover belongs to its rank's thread. What it starts may go on by itself; a ticket says
// when it has ended. Tickets of one mover end in the order in which they were given.

#ifndef COLL_RUNTIME_BACKEND_NET_MOVER_H
#define COLL_RUNTIME_BACKEND_NET_MOVER_H

#include "runtime/backend.h"
#include "runtime/net/transport.h"

#include <cstdint>

namespace coll::rt::network {

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
  // dst[i] /= divisor; f32 and f64.
  virtual Result<Ticket> divide(CollDtype dtype, void *dst, int64_t elems, int divisor) = 0;
  virtual Result<bool> isDone(Ticket ticket) = 0;

  // Scratch memory that a peer's data may land in, given back by release(). Null where
  // there is none.
  virtual Result<char *> allocate(int64_t bytes) = 0;
  virtual void release(char *memory) = 0;
  // What a transport has to be given along with an address; null: nothing.
  virtual const net::Memory *registration(const void *data, int64_t bytes) = 0;
};

// Host memory; everything is done when the call returns. Keeps a few scratch buffers.
std::unique_ptr<Mover> createHostMover();

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_MOVER_H
