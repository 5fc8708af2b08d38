// topology.h - prints the topology file of this machine (plan/topology.h).

#ifndef COLL_TOOLS_COLL_INFO_TOPOLOGY_H
#define COLL_TOOLS_COLL_INFO_TOPOLOGY_H

namespace coll::info {

// Prints one host with a rank for each core, and the link between two of its ranks as backend
// threads uses it, measured now. Returns the exit code of the tool.
int printTopology();

} // namespace coll::info

#endif // COLL_TOOLS_COLL_INFO_TOPOLOGY_H
