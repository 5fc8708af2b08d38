// topology.h - the hosts that ranks run on, and the links between them.
//
// A JSON file:
//
//   {"version": 1,
//    "hosts": [{"name": "a", "ranks": 8}, {"name": "b", "ranks": 8}],
//    "links": [{"between": ["a", "a"], "bandwidth_gb_per_s": 200, "latency_us": 3},
//              {"between": ["*", "*"], "bandwidth_gb_per_s": 25, "latency_us": 12}]}
//
// Ranks are numbered host by host. A link of a host with itself is between each two of its ranks:
// each rank sends with that bandwidth. A link between two hosts is shared by all their ranks, and
// works in both directions at once. "*" stands for every host that no other link names; of two
// "*" it is every pair of different hosts. GB are 10^9 bytes.
//
// A link may also have "call_us": the time of a collective over it beside its rounds and bytes, for
// the ranks' agreement on the call and for waiting until all are done. The default is 0.
//
// A host may say what one of its ranks computes: "gflop_per_s" and "memory_gb_per_s"; and what
// takes time whatever its size: "kernel_us", to start a kernel; "matrix_us", of each matrix of a
// batch of products; "row_us", to find a row of a table by its number. "cache_gb_per_s" is for
// tensors of at most 512 KiB, which a cache may hold. Bytes count when they are read and when they
// are written. The defaults are those of a processor core.

#ifndef COLL_PLAN_TOPOLOGY_H
#define COLL_PLAN_TOPOLOGY_H

#include "plan/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coll::plan {

// A tensor of at most so many bytes may still be in a cache when it is read.
inline constexpr int64_t kCachedBytes = 512 << 10;

struct Topology {
  struct Host {
    std::string name;
    int64_t ranks = 1;
    // What one rank does: operations on floats, and bytes read and written.
    double gflopPerS = 20, memoryGbPerS = 10, cacheGbPerS = 20;
    // What takes time whatever its size.
    double kernelUs = 0.03, matrixUs = 0.05, rowUs = 0.001;
  };
  struct Link {
    std::string from, to; // names of hosts, or "*"
    double gbPerS = 0, latencyUs = 0, callUs = 0;
  };
  std::vector<Host> hosts;
  std::vector<Link> links;

  int64_t numRanks() const;
  // The link between two hosts, which may be the same host: the entry that names them, else the one
  // with "*". Null if there is none.
  const Link *find(const std::string &from, const std::string &to) const;
};

// `file` is for messages: "topology.json:3: ..." if the text is not JSON, "topology.json:
// links[2].latency_us: ..." if a value is wrong. Hosts that are not linked are an error, too.
Result<Topology> parseTopology(std::string_view text, const std::string &file);
Result<Topology> readTopology(const std::string &file);

// The topology that is assumed without a file: one host, 10 GB/s and 5 us between two ranks.
Topology assumedTopology(int64_t ranks);

// The text that parseTopology reads.
std::string toJson(const Topology &topology);

} // namespace coll::plan

#endif // COLL_PLAN_TOPOLOGY_H
