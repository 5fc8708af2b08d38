// reshard.h - executes a plan on host memory.
//
//   Result<std::unique_ptr<HostReshard>> mine = HostReshard::create(plan, rank, buffers);  // once
//   …the senders' data is there, and everybody knows…
//   mine->run();
//   …everybody has run…
//   mine->slice();                                                           // Gather only
//
// Each rank has an object of its own and moves its part: Push, a sender writes to its receivers;
// Pull, a receiver reads from its senders. What a rank has for itself it copies, either way. A
// peer's buffer is memory that this process can address, or is reached by one-sided reads and
// writes.
//
// run() neither allocates nor tells a peer anything: that sources are ready, destinations free and
// everything has arrived is for the caller to say, once for as many reshards as he likes. When
// run() returns, what this rank writes is in place, and what it reads is here.
//
// Threads: one at a time for an object. Ownership: buffers, connections and registrations are the
// caller's and outlive it.

#ifndef COLL_RUNTIME_EXCHANGE_RESHARD_RESHARD_H
#define COLL_RUNTIME_EXCHANGE_RESHARD_RESHARD_H

#include "runtime/exchange/reshard_plan.h"
#include "runtime/net/transport.h"

#include <memory>
#include <vector>

namespace coll::rt::exchange {

// Over a connection a pull asks for many rows at once (one_sided.h), and a push sends each row by
// itself.
enum class ReshardDirection { Push, Pull };
const char *nameOf(ReshardDirection direction); // "push", "pull"

// How this rank reaches a peer's buffer: at `data`, if it has `bytes` there, else over the
// connection.
struct PeerBuffer {
  char *data = nullptr;
  int64_t bytes = 0;
  net::Connection *connection = nullptr;
  net::RemoteKey key;  // of the whole buffer, with its bytes
  int maxSegments = 1; // of a request, as the transport's device says
};

// Memory of this rank. `memory`: its registration, if a transport needs one.
struct OwnBuffer {
  char *data = nullptr;
  int64_t bytes = 0;
  const net::Memory *memory = nullptr;
};

struct ReshardBuffers {
  OwnBuffer source;  // of a sender; only read
  OwnBuffer target;  // of a receiver
  OwnBuffer scratch; // of a receiver, Gather only: plan.scratchBytes
  ReshardDirection direction = ReshardDirection::Push;
  // Push: each receiver's target (Gather: scratch). Pull: each sender's source. By position;
  // entries of peers without a transfer with this rank, and of the rank itself, may be empty.
  std::vector<PeerBuffer> peers;
};

// kCollInvalidCall names the rank and what is missing: a buffer that is too small, its own or a
// peer's, a peer that cannot be reached, or a rank that is on neither side.
Status checkReshard(const ReshardPlan &plan, int rank, const ReshardBuffers &buffers);

// The transfers that a rank carries out, in the plan's order.
std::vector<const Transfer *> transfersOf(const ReshardPlan &plan, int rank,
                                          ReshardDirection direction);

// Equal on all ranks that have the same plan and direction. Ranks that make their plans by
// themselves may compare it, once; NodesReshard does.
uint64_t fingerprintOf(const ReshardPlan &plan, ReshardDirection direction);

class HostReshard {
public:
  static Result<std::unique_ptr<HostReshard>>
  create(ReshardPlan plan, int rank, const ReshardBuffers &buffers, int64_t timeoutUs = 60'000'000);
  // Blocks. An error names the peer. After an error over a connection the buffers are free only
  // when the connection is closed.
  Status run();
  // Gather: copies from scratch to target. Otherwise does nothing.
  Status slice();

private:
  HostReshard(ReshardPlan plan, int rank, const ReshardBuffers &buffers, int64_t timeoutUs);
  Status carryOut(const Transfer &transfer);

  const ReshardPlan plan_;
  const int sender_, receiver_; // positions, or -1
  const ReshardBuffers buffers_;
  const int64_t timeoutUs_;
  std::vector<const Transfer *> transfers_;
};

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_RESHARD_RESHARD_H
