#include "plan/cost_model.h"

#include <algorithm>

namespace coll::plan {

uint64_t maskOf(const std::vector<int> &axes) {
  uint64_t mask = 0;
  for (int axis : axes)
    mask |= uint64_t{1} << axis;
  return mask;
}

Result<CostModel> CostModel::overTopology(const Topology &topology, const Mesh &mesh) {
  if (mesh.numRanks() > topology.numRanks())
    return Error{"the mesh has " + std::to_string(mesh.numRanks()) + " ranks, the topology " +
                 std::to_string(topology.numRanks())};
  CostModel model;
  model.mesh_ = mesh;
  model.topology_ = topology;
  for (size_t host = 0; host < topology.hosts.size(); ++host)
    model.hostOf_.insert(model.hostOf_.end(), static_cast<size_t>(topology.hosts[host].ranks),
                         static_cast<int>(host));
  return model;
}

// Each rank sends to the next of its group: edges over one link of two hosts share it, ranks of one
// host do not.
CostModel::Group CostModel::measure(uint64_t axes) const {
  const int64_t ranks = mesh_.numRanks();
  std::map<std::pair<int, int>, int64_t> edges; // by the two hosts, in the direction of sending
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t next = rank;
    // Counts one on along the axes, the last one first.
    int64_t stride = 1;
    for (size_t axis = mesh_.axes.size(); axis-- > 0; stride *= mesh_.axes[axis].size) {
      const int64_t size = mesh_.axes[axis].size;
      if (!(axes >> axis & 1))
        continue;
      if (mesh_.coordinate(next, static_cast<int>(axis)) + 1 < size) {
        next += stride;
        break;
      }
      next -= (size - 1) * stride;
    }
    ++edges[{hostOf_[static_cast<size_t>(rank)], hostOf_[static_cast<size_t>(next)]}];
  }
  Group group;
  for (const auto &[pair, count] : edges) {
    const auto &[from, to] = pair;
    const Topology::Link *link = topology_.find(topology_.hosts[static_cast<size_t>(from)].name,
                                                topology_.hosts[static_cast<size_t>(to)].name);
    if (!link) // a host of one rank, whose group is that rank
      continue;
    const double sharers = from == to ? 1 : static_cast<double>(count);
    group.usPerByte = std::max(group.usPerByte, sharers / (link->gbPerS * 1e3));
    group.latencyUs = std::max(group.latencyUs, link->latencyUs);
  }
  return group;
}

double CostModel::cost(const Traffic &traffic) const {
  if (isByBytes())
    return traffic.meanBytes + kCall;
  auto [entry, isNew] = groups_.try_emplace(traffic.axes);
  if (isNew)
    entry->second = measure(traffic.axes);
  return traffic.rounds * entry->second.latencyUs +
         static_cast<double>(traffic.mostBytes) * entry->second.usPerByte;
}

} // namespace coll::plan
