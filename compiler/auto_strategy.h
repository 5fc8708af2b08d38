//===- auto_strategy.h - the mesh and the strategies that cost least -----*- C++ -*-===//
//
// A plan is a mesh, strategies over its axes, and shardings of single arguments. The step, without
// most of its repeated layers (layer_folding.h), is partitioned for each plan that is tried, and
// costed (passes/analysis/step_cost.h):
//
//   1. every strategy over every factorisation of the ranks into one, two and three axes; of large
//      steps into three for the best of them; a step with few arguments instead tries every
//      sharding of each;
//   2. starting from the best plan, and from data parallelism, one group of arguments after the
//      other is split in another way, as long as that is faster. Arguments of repeated layers are
//      one group; a parameter is split alone, and together with its optimizer's state;
//   3. these shardings are tried with the next best strategies, too.
//
// Predictions do not tell plans apart whose times differ by less than 0.3 %. Among the plans that
// are so near to the fastest, the one with the fewest calls of collectives is taken, then the one
// that sends least, then the one with the fewest patterns.
//
//===------------------------------------------------------------------------------===//

#ifndef COLL_COMPILER_AUTO_STRATEGY_H
#define COLL_COMPILER_AUTO_STRATEGY_H

#include "compiler/compile.h"
#include "compiler/explanation.h"
#include "compiler/target.h"

namespace coll::run {

struct SearchOptions {
  int64_t ranks = 1;
  std::vector<MeshAxisOption> mesh; // given by the user; empty: any
  std::vector<std::string> shards;  // of the user: part of every plan
  std::string topology;             // as Target has it
  bool narrowSums = false;
  int64_t combineBytes = 0; // as PartitionOptions has it
  int64_t memoryLimit = 0;  // bytes of a rank; 0: none
  bool foldsLayers = true;  // false: every plan is costed for the whole step
};

/// Searches for a step at L0. The best plan comes first: the simplest of the fastest that fit into
/// the limit or, if none does, the one that needs least. An error if the topology is wrong, or no
/// plan can be partitioned. The same step and options give the same plan.
llvm::Expected<PlanSearch> searchPlan(const StepIr &step, const SearchOptions &options);

} // namespace coll::run

#endif // COLL_COMPILER_AUTO_STRATEGY_H
