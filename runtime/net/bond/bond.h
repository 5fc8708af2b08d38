// bond.h - a transport whose connections use several devices at once.
//
// Decorates a transport. A connection of device d has a link over each of the devices d, d + 1, …
// (of either side, paired in this order), `rails` of them if both sides have as many. Large
// messages and one-sided operations are striped over the links; small ones use the first while it
// keeps up, and all of them in a stream. When a link fails - its device, a port, the path, retries
// used up - the connection goes on with the others: nothing is lost, nothing is delivered twice,
// order is kept. Only the failure of its last link ends it.
//
//   small message:  a numbered frame, kept until the peer has acknowledged it; what a lost
//                   link may have swallowed is sent again, and taken once; what comes before
//                   its turn over another link waits
//   large message:  a frame says which part goes over which link; the receiver asks for a
//                   part anew when its link has failed, and says when it has all of them
//   one-sided:      a part is done again when both ends have closed the link that failed
//
// So a large send is done only when the receiver has it, not when it has left. Both sides
// have to be decorated. Host memory only: a buffer has to be reachable from every device.
//
// A link that has failed, or could not be made at the start, is tried again in the background,
// ever more seldom, and used again once it is there.
//
// close() returns at once. What was done before and may have got lost on a link that fails at
// that time is kept, and sent again over another, for two seconds at most; the transport's
// destructor waits for that.
//
// Threads: as transport.h says. A thread that tests progresses the connection; one thread of the
// transport progresses connections that no thread tests every millisecond.

#ifndef COLL_RUNTIME_NET_BOND_BOND_H
#define COLL_RUNTIME_NET_BOND_BOND_H

#include "runtime/net/transport.h"

#include <memory>

namespace coll::net {

struct BondOptions {
  static constexpr int kMaxRails = 8;
  int rails = 2;                     // links of one connection, 1 to kMaxRails
  int64_t timeoutUs = 60'000'000;    // for setting up a connection
  int64_t joinTimeoutUs = 5'000'000; // links that are not connected by then are left out
  // Retries of a link that failed: the first pause, the longest pause (it doubles each time), and
  // how many in a row (ten minutes in all).
  int64_t retryUs = 100'000, maxRetryUs = 10'000'000;
  int maxRetries = 64;
};

// With the devices of `inner`, named by the links ("eth0+eth1"). With fewer devices than rails
// there are as many links as devices.
Result<std::unique_ptr<Transport>> createBondTransport(std::unique_ptr<Transport> inner,
                                                       const BondOptions &options);

// As COLL_NET_RAILS says; returns `inner` itself if that is 1. `timeoutUs` as above.
Result<std::unique_ptr<Transport>> bondFromEnv(std::unique_ptr<Transport> inner, int64_t timeoutUs);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_BOND_BOND_H
