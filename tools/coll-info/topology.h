// topology.h - prints the topology file of this machine (plan/topology.h).

#ifndef COLL_TOOLS_COLL_INFO_TOPOLOGY_H
#define COLL_TOOLS_COLL_INFO_TOPOLOGY_H

#include <cstdint>

namespace coll::info {

// Prints one host with `ranks` ranks (0: one for each core), what each of them computes while all
// do, and the link between two of them as backend threads uses it, measured now with at most eight
// ranks. Returns the exit code of the tool.
int printTopology(int64_t ranks);

} // namespace coll::info

#endif // COLL_TOOLS_COLL_INFO_TOPOLOGY_H
