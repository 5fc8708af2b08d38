// bond.h - a transport whose connections use several devices at once.
//
// Decorates a transport. A connection of device d has a link over each of the devices d, d + 1, …
// (of either side, paired in this order), `rails` of them if both sides have as many. Large
// messages and one-sided operations are striped over the links; small messages use the first link
// while it keeps up, and all links if there are many of them. If a link fails (its device, a port,
// the path, or no more retries), the connection continues with the others: nothing is lost, nothing
// is delivered twice, and order is kept. Only the failure of its last link ends the connection.
//
//   small message:  a numbered frame, kept until the peer has acknowledged it. Frames that a failed
//                   link may have lost are sent again, and received once; frames that arrive early
//                   over another link wait for their turn
//   large message:  a frame says which part uses which link; if a link fails, the receiver
//                   requests its part again, and it reports when it has all parts
//   one-sided:      a part is done again when both ends have closed the link that failed
//
// So a large send is done only when the receiver has it, not when it was sent. Both sides must be
// decorated. Host memory only: a buffer has to be reachable from every device.
//
// A link that has failed, or could not be connected at the start, is retried in the background,
// with growing pauses, and used again once it is connected.
//
// close() returns at once. Messages that were done before and may be lost on a link that fails at
// that time are kept, and sent again over another link, for two seconds at most; the transport's
// destructor waits for that.
//
// Threads: see transport.h. A thread that tests progresses the connection. A thread of the
// transport progresses connections that no thread tests, every millisecond.

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
  // Retries of a failed link: the first pause, and the longest pause (the pause doubles each time).
  // The number of retries in a row is limited (ten minutes in all).
  int64_t retryUs = 100'000, maxRetryUs = 10'000'000;
  int maxRetries = 64;
};

// The devices are those of `inner`, named by the links ("eth0+eth1"). With fewer devices than rails
// there are as many links as devices.
Result<std::unique_ptr<Transport>> createBondTransport(std::unique_ptr<Transport> inner,
                                                       const BondOptions &options);

// Reads COLL_NET_RAILS; returns `inner` itself if that is 1. `timeoutUs` as above.
Result<std::unique_ptr<Transport>> bondFromEnv(std::unique_ptr<Transport> inner, int64_t timeoutUs);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_BOND_BOND_H
