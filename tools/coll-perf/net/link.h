// link.h - a link to measure: a number of connections between rank 0 and rank 1. Both ranks make
// the same calls in the same order.

#ifndef COLL_TOOLS_COLL_PERF_NET_LINK_H
#define COLL_TOOLS_COLL_PERF_NET_LINK_H

#include "runtime/base/status.h"
#include "tools/coll-perf/net/job.h"
#include "tools/coll-perf/net/options.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace coll::perf {

class Link {
public:
  virtual ~Link() = default;
  // "tcp over eth0, 4 sockets a connection"
  virtual std::string describe() const = 0;
  // The device that it uses on this rank, if known.
  virtual std::string device() const { return {}; }
  // Sends known bytes there and back, and compares them; does nothing for a plain socket.
  virtual Status verify(uint64_t bytes) = 0;
  // Makes `count` round trips on the first connection. Rank 0 receives their times, in µs. For a
  // one-sided operation it is the time of the operation, while rank 1 is idle.
  virtual Status pingPong(uint64_t bytes, uint64_t count, std::vector<double> &timesUs) = 0;
  // Moves `count` messages over each connection from rank 0 to rank 1, and as many back if
  // `bothWays`. Rank 0 gets the seconds until all have arrived.
  virtual Result<double> stream(uint64_t bytes, uint64_t count, bool bothWays) = 0;
};

// The transport that the plan names.
Result<std::unique_ptr<Link>> makeTransportLink(Job &job, const NetPlan &plan);
// Plain sockets: plan.sockets of them (default four) for each connection and device, one thread for
// each direction of each socket, with blocking calls; the ping-pong polls.
Result<std::unique_ptr<Link>> makeRawLink(Job &job, const NetPlan &plan);
// The programs of package perftest (ib_send_bw and others) over `device`, such as "mlx5_0:1"; of
// several ("mlx5_0:1+mlx5_1:1") they use the first. Null on both ranks if one of them does not have
// the programs.
Result<std::unique_ptr<Link>> makePerftestLink(Job &job, const NetPlan &plan,
                                               const std::string &device);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_NET_LINK_H
