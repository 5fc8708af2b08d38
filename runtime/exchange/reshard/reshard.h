// reshard.h - executes a plan on host memory.
//
//   Result<std::unique_ptr<HostReshard>> mine = HostReshard::create(plan, rank, buffers);  // once
//   … the senders' data is ready, and all ranks know it …
//   mine->run();
//   … all ranks have run …
//   mine->slice();                                                           // Gather only
//
// Each rank has its own object and moves its part: with Push, a sender writes to its receivers;
// with Pull, a receiver reads from its senders. Data that a rank sends to itself is copied in both
// cases. A peer's buffer is memory that this process can address, or is reached by one-sided reads
// and writes.
//
// run() neither allocates nor notifies a peer. The caller ensures that sources are ready and
// destinations free, and finds out when everything has arrived, once for any number of reshards.
// When run() returns, this rank's writes are in place, and its reads have arrived.
//
// Threads: one at a time for an object. Ownership: the caller owns buffers, connections and
// registrations, which outlive the object.

#ifndef COLL_RUNTIME_EXCHANGE_RESHARD_RESHARD_H
#define COLL_RUNTIME_EXCHANGE_RESHARD_RESHARD_H

#include "runtime/exchange/reshard_plan.h"
#include "runtime/net/transport.h"

#include <memory>
#include <vector>

namespace coll::rt::exchange {

// Over a connection a pull requests many rows at once (one_sided.h), and a push sends each row
// separately.
enum class ReshardDirection { Push, Pull };
const char *nameOf(ReshardDirection direction); // "push", "pull"

// How this rank reaches a peer's buffer: at `data` if `bytes` is not 0, else over the connection.
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
  // Push: each receiver's target (Gather: scratch). Pull: each sender's source. By position; the
  // entries of the rank itself, and of peers without a transfer with it, may be empty.
  std::vector<PeerBuffer> peers;
};

// kCollInvalidCall names the rank and what is missing: a buffer that is too small, its own or a
// peer's, a peer that cannot be reached, or a rank that is on neither side.
Status checkReshard(const ReshardPlan &plan, int rank, const ReshardBuffers &buffers);

// The transfers that a rank carries out, in the plan's order.
std::vector<const Transfer *> transfersOf(const ReshardPlan &plan, int rank,
                                          ReshardDirection direction);

// Equal on all ranks that have the same plan and direction. Ranks that make their plans
// independently may compare it, once; NodesReshard does.
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
