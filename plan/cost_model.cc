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

Work &Work::add(const Work &other, double times) {
  flops += times * other.flops;
  bytes += times * other.bytes;
  cachedBytes += times * other.cachedBytes;
  kernels += times * other.kernels;
  matrices += times * other.matrices;
  rows += times * other.rows;
  return *this;
}

// The rank that follows along the axes, as in a ring; the last axis varies fastest.
int64_t CostModel::nextAlong(uint64_t axes, int64_t rank) const {
  int64_t next = rank, stride = 1;
  for (size_t axis = mesh_.axes.size(); axis-- > 0; stride *= mesh_.axes[axis].size) {
    if (!(axes >> axis & 1))
      continue;
    const int64_t size = mesh_.axes[axis].size;
    if (mesh_.coordinate(next, static_cast<int>(axis)) + 1 < size)
      return next + stride;
    next -= (size - 1) * stride;
  }
  return next;
}

// Each rank sends to the next of its group. Edges over one link of two hosts share the link, edges
// between ranks of one host do not.
CostModel::Group CostModel::measure(const std::vector<int64_t> &next) const {
  std::map<std::pair<int, int>, int64_t> edges; // by the two hosts, in the direction of sending
  for (size_t rank = 0; rank < next.size(); ++rank)
    ++edges[{hostOf_[rank], hostOf_[static_cast<size_t>(next[rank])]}];
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
    group.callUs = std::max(group.callUs, link->callUs);
  }
  return group;
}

double CostModel::cost(const Traffic &traffic, const Group &group) const {
  return group.callUs + traffic.rounds * group.latencyUs +
         static_cast<double>(traffic.mostBytes) * group.usPerByte;
}

double CostModel::cost(const Traffic &traffic) const {
  if (isByBytes())
    return traffic.meanBytes + kCall;
  auto [entry, isNew] = groups_.try_emplace(traffic.axes);
  if (isNew) {
    std::vector<int64_t> next(static_cast<size_t>(mesh_.numRanks()));
    for (size_t rank = 0; rank < next.size(); ++rank)
      next[rank] = nextAlong(traffic.axes, static_cast<int64_t>(rank));
    entry->second = measure(next);
  }
  return cost(traffic, entry->second);
}

double CostModel::cost(const Traffic &traffic,
                       const std::vector<std::vector<int64_t>> &groups) const {
  if (isByBytes())
    return traffic.meanBytes + kCall;
  std::vector<int64_t> next(static_cast<size_t>(mesh_.numRanks()));
  for (size_t rank = 0; rank < next.size(); ++rank)
    next[rank] = static_cast<int64_t>(rank);
  for (const std::vector<int64_t> &group : groups)
    for (size_t i = 0; i < group.size(); ++i)
      next[static_cast<size_t>(group[i])] = group[(i + 1) % group.size()];
  return cost(traffic, measure(next));
}

double CostModel::leastPerByte() const {
  if (isByBytes())
    return 1;
  double fastest = 0;
  for (const Topology::Link &link : topology_.links)
    fastest = std::max(fastest, link.gbPerS);
  return fastest > 0 ? 1 / (fastest * 1e3) : 0;
}

double CostModel::costOfPieces(const Traffic &traffic, int calls) const {
  if (isByBytes())
    return traffic.meanBytes + calls * messageBytes_;
  // Each byte is read and written before it is sent, and after it has been received.
  const auto copied = 4 * static_cast<double>(traffic.mostBytes);
  Work copies;
  (traffic.mostBytes > kCachedBytes ? copies.bytes : copies.cachedBytes) = copied;
  Traffic first = traffic, others = traffic;
  first.rounds = others.rounds = 1;
  others.mostBytes = 0;
  return cost(first) + (calls - 1) * cost(others) + costOfWork(copies);
}

double CostModel::costOfWork(const Work &work) const {
  if (isByBytes())
    return work.flops / kFlopsPerByte;
  double us = 0;
  for (const Topology::Host &host : topology_.hosts) {
    const double computing = work.flops / (host.gflopPerS * 1e3) + work.matrices * host.matrixUs,
                 moving = work.bytes / (host.memoryGbPerS * 1e3) +
                          work.cachedBytes / (host.cacheGbPerS * 1e3),
                 finding = work.rows * host.rowUs;
    us = std::max(us, work.kernels * host.kernelUs + std::max({computing, moving, finding}));
  }
  return us;
}

} // namespace coll::plan
