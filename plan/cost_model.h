// cost_model.h - what a collective costs, and what a rank's work costs.
//
// Two models. By bytes: the bytes that an average rank sends; plans of equal bytes are compared by
// the number of collectives, and a route (move.h) counts its calls as bytes, too; work counts as
// the bytes that could be sent in the same time. Over a topology: microseconds on the slowest link,
// for ranks that send to the next rank of their group, all groups at once; work takes the time of
// the slowest rank.

#ifndef COLL_PLAN_COST_MODEL_H
#define COLL_PLAN_COST_MODEL_H

#include "plan/layout.h"
#include "plan/result.h"
#include "plan/topology.h"

#include <cstdint>
#include <map>
#include <vector>

namespace coll::plan {

uint64_t maskOf(const std::vector<int> &axes);

// One collective, over all groups of ranks that differ along `axes` only.
struct Traffic {
  uint64_t axes = 0;     // one bit for each axis of the mesh
  double meanBytes = 0;  // sent by an average rank
  int64_t mostBytes = 0; // sent by the rank that sends most
  int rounds = 1;        // messages that wait for one another
};

// What one rank computes.
struct Work {
  double flops = 0; // operations on elements
  // Read and written in memory, of tensors that no cache holds, and of those that one may.
  double bytes = 0, cachedBytes = 0;
  // What takes time whatever its size, as a host of a topology says.
  double kernels = 0, matrices = 0, rows = 0;

  Work &add(const Work &other, double times);
};

// For one thread at a time, because the costs of groups are cached.
class CostModel {
public:
  // Bytes that the link of assumedTopology() sends while a message is on its way.
  static constexpr double kMessageBytes = 50e3;

  // `messageBytes`: what a call of a route counts; infinity: nothing is routed.
  static CostModel byBytes(double messageBytes = kMessageBytes) {
    CostModel model;
    model.messageBytes_ = messageBytes;
    return model;
  }
  // An error if the topology has fewer ranks than the mesh. The mesh's rank i is rank i of the
  // topology.
  static Result<CostModel> overTopology(const Topology &topology, const Mesh &mesh);

  double cost(const Traffic &traffic) const;
  // The same for groups that are lists of ranks. `axes` of the traffic mean nothing.
  double cost(const Traffic &traffic, const std::vector<std::vector<int64_t>> &groups) const;
  // Calls that each send a part of what `traffic` says, one after the other, from pieces that are
  // copied out of blocks and into blocks.
  double costOfPieces(const Traffic &traffic, int calls) const;
  double costOfWork(const Work &work) const;
  // No byte that an average rank sends costs less.
  double leastPerByte() const;
  // The cost of a step that moves nothing between ranks: less than any collective, but not 0.
  double localCost() const { return kLocal; }
  bool isByBytes() const { return hostOf_.empty(); }
  double messageBytes() const { return messageBytes_; }

private:
  struct Group {
    double usPerByte = 0, latencyUs = 0, callUs = 0;
  };

  static constexpr double kLocal = 1e-6, kCall = 1e-3;
  // Operations that a rank does while it sends one byte: a value between that of a processor core
  // beside memory and that of a GPU beside its links.
  static constexpr double kFlopsPerByte = 64;

  CostModel() = default;
  int64_t nextAlong(uint64_t axes, int64_t rank) const;
  Group measure(const std::vector<int64_t> &next) const;
  double cost(const Traffic &traffic, const Group &group) const;

  Mesh mesh_;
  std::vector<int> hostOf_; // by rank; none: by bytes
  double messageBytes_ = kMessageBytes;
  Topology topology_;
  mutable std::map<uint64_t, Group> groups_;
};

} // namespace coll::plan

#endif // COLL_PLAN_COST_MODEL_H
