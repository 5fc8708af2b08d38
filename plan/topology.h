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
// A host may say what one of its ranks computes: "gflop_per_s" and "memory_gb_per_s". The default
// is that of a processor core.

#ifndef COLL_PLAN_TOPOLOGY_H
#define COLL_PLAN_TOPOLOGY_H

#include "plan/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coll::plan {

struct Topology {
  struct Host {
    std::string name;
    int64_t ranks = 1;
    // What one rank does: operations on floats, and bytes read and written.
    double gflopPerS = 20, memoryGbPerS = 10;
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
