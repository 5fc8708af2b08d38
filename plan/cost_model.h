// cost_model.h - what a collective costs.
//
// Two models. By bytes: the bytes that an average rank sends, and among plans of equal bytes the
// number of collectives. Over a topology: microseconds on the slowest link, for ranks that send to
// the next rank of their group, all groups at once.

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

// For one thread at a time: costs of groups are kept.
class CostModel {
public:
  static CostModel byBytes() { return {}; }
  // An error where the topology has fewer ranks than the mesh. The mesh's rank i is rank i of the
  // topology.
  static Result<CostModel> overTopology(const Topology &topology, const Mesh &mesh);

  double cost(const Traffic &traffic) const;
  // What a rank does alone: less than any collective, more than nothing.
  double localCost() const { return kLocal; }
  bool isByBytes() const { return hostOf_.empty(); }

private:
  struct Group {
    double usPerByte = 0, latencyUs = 0;
  };

  static constexpr double kLocal = 1e-6, kCall = 1e-3;

  CostModel() = default;
  Group measure(uint64_t axes) const;

  Mesh mesh_;
  std::vector<int> hostOf_; // by rank; none: by bytes
  Topology topology_;
  mutable std::map<uint64_t, Group> groups_;
};

} // namespace coll::plan

#endif // COLL_PLAN_COST_MODEL_H
