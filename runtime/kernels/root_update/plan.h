// plan.h - the assignment of parameters to the ranks that update them.
//
// The parameters of a step are spans of elements. Every span has one root, the rank that sums its
// gradient, keeps its optimizer state and computes its new values. Either whole parameters have
// roots (planRoots), or every rank is the root of the n-th part of one flat buffer (planShards).
//
// The spans of a root form one sequence, its *list*; `position` numbers the elements in it. A span
// begins at a multiple of kUpdateGrain, so there may be gaps. All ranks must have the same plan.
// The functions depend on their arguments alone; any thread may call them.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_PLAN_H
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_PLAN_H

#include "runtime/base/status.h"
#include "runtime/kernels/peer/group.h"

#include <cstdint>
#include <vector>

namespace coll::kernels {

// Elements. Vectors of 16 bytes never cross a multiple of it, in any type.
inline constexpr uint64_t kUpdateGrain = 16;

// Offsets are in elements: of the gradient buffer of every rank, of the parameter buffer of
// every rank, and of the state buffers of the root.
struct UpdateSpan {
  uint64_t position;
  uint64_t count;
  uint64_t gradient;
  uint64_t parameter;
  uint64_t state;
};

// The plan as kernels receive it, by value. Up to kMaxPeers spans, one per rank, are inside.
struct RootTable {
  const UpdateSpan *spans; // in GPU memory, sorted by root and position; or null: shards
  UpdateSpan shards[kMaxPeers];
  uint32_t first[kMaxPeers + 1]; // root r has spans [first[r], first[r + 1])
  uint64_t elems[kMaxPeers];     // length of root r's list, gaps included
};

struct RootPlan {
  // The spans that the caller copies to every GPU and keeps there; empty for shards.
  std::vector<UpdateSpan> spans;
  RootTable table{}; // the caller sets table.spans, unless `spans` is empty

  // Elements that the state buffers of `root` need.
  uint64_t stateElems(int root) const { return table.elems[root]; }
};

struct RootedParameter {
  uint64_t count = 0;
  int root = 0;
  uint64_t gradient = 0; // offset in the gradient buffer
  uint64_t parameter = 0;
};

// Complete parameters at their roots, in the given order; a parameter without elements is skipped.
// State offsets are the positions in the root's list. kCollInvalidCall: a root outside [0, ranks),
// ranks outside 1 to kMaxPeers, or an offset that overflows.
rt::Result<RootPlan> planRoots(const std::vector<RootedParameter> &parameters, int ranks);

// Rank r updates the r-th part of a flat buffer: ceil(count / ranks) elements rounded up to
// kUpdateGrain, the last ones fewer or none. Offsets are the same in gradients and parameters.
rt::Result<RootPlan> planShards(uint64_t count, int ranks);

// Ok if everything that a plan for this many ranks names is inside buffers of `gradients` and
// `parameters` elements, and no parameter has two roots. Otherwise kCollInvalidCall, with the first
// wrong span.
rt::Status checkPlan(const RootPlan &plan, int ranks, uint64_t gradients, uint64_t parameters);

// A root for each parameter such that roots have about the same number of elements: the largest
// first, each to the root with the fewest. 1 <= ranks.
std::vector<int> balanceRoots(const std::vector<uint64_t> &counts, int ranks);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_PLAN_H
