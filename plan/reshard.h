// reshard.h - the cheapest moves from one layout of a tensor to others, on one mesh.
//
// The planner searches the shortest path by the cost model. A state says which axes split which
// dimension, in which order, and over which axes the value is partial; an edge is a move (move.h).
//
//   from [x],[]             to [],[y]        slice dim 1 over y, all_gather dim 0 over x
//   from [] partial [x,y]   to [x]           reduce_scatter over x, all_reduce over y
//   from [x,y],[]           to [x],[y]       all_to_all over y
//   from [x,y]              to [y,x]         permute over x, y
//   from [x],[y]            to [y],[]        route over x, y: each rank receives what it lacks
//
// Collectives carry whole blocks, so padding at the end of uneven blocks is sent, too, and elements
// that two of them move travel twice. A route does neither, but has more calls.

#ifndef COLL_PLAN_RESHARD_H
#define COLL_PLAN_RESHARD_H

#include "plan/cost_model.h"
#include "plan/layout.h"
#include "plan/move.h"
#include "plan/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace coll::plan {

struct Reshard {
  std::vector<int64_t> shape;
  int64_t elemBytes = 1;
  Layout from, to; // canonical
};

// Why a plan sends more than the least bytes, which a route (route_move.h) would send.
enum class Routing {
  Unneeded,   // it sends the least
  Slower,     // a route takes longer
  Kept,       // reductions stay collectives
  Impossible, // the ranks are too many, or the value becomes partial
};

struct MovePlan {
  std::vector<Move> moves;
  double cost = 0;
  // Sent by all ranks together, the part of it that is padding, and what every plan has to send,
  // which is without padding (reshard_bound.h).
  int64_t wireBytes = 0, paddingBytes = 0, leastBytes = 0;
  Routing routing = Routing::Unneeded;
  std::string reason; // why it sends more than that; empty where it does not
  // What the checker of certificates says against the plan: a fault of the planner.
  std::string fault;
};

// The plan for several targets of one value.
struct TargetsPlan {
  Layout base; // the source's layout where nothing is shared
  MovePlan toBase;
  std::vector<MovePlan> toTargets; // from the base, in the order of the targets
  double cost = 0;
};

// Plans for one mesh. Every plan is kept, so that a second question is a look-up, and its
// certificate is checked where the mesh is no larger than kMostCheckedRanks and bytes can be
// counted. For one thread at a time.
class ReshardPlanner {
public:
  static constexpr int64_t kMostCheckedRanks = 1024;

  explicit ReshardPlanner(Mesh mesh, CostModel cost = CostModel::byBytes())
      : mesh_(std::move(mesh)), cost_(std::move(cost)) {}

  const Mesh &mesh() const { return mesh_; }

  // An error where a layout does not fit the mesh or the tensor, or where the plan has a fault.
  Result<MovePlan> plan(const std::vector<int64_t> &shape, int64_t elemBytes, const Layout &from,
                        const Layout &to);

  // Chooses one base that minimises cost(from -> base) + sum of cost(base -> target), so that a
  // value is reduced or gathered once for all its targets.
  Result<TargetsPlan> planTargets(const std::vector<int64_t> &shape, int64_t elemBytes,
                                  const Layout &from, const std::vector<Layout> &targets);

private:
  const MovePlan &planned(const Reshard &reshard);

  Mesh mesh_;
  CostModel cost_;
  std::map<std::vector<int64_t>, MovePlan> plans_;
};

// Returns the cheapest plan; does not cache plans. Layouts must be canonical.
MovePlan searchMoves(const Mesh &mesh, const Reshard &reshard, const CostModel &cost);

} // namespace coll::plan

#endif // COLL_PLAN_RESHARD_H
