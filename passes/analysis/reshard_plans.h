//===- reshard_plans.h - the planner of reshards on shardings ---------*- C++ -*-===//
//
// plan/reshard.h plans for meshes and layouts of numbers; here are those of attributes.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_RESHARD_PLANS_H
#define COLL_PASSES_ANALYSIS_RESHARD_PLANS_H

#include "dialect/dialect.h"
#include "plan/reshard.h"

namespace mlir::coll {

using ::coll::plan::Layout;
using ::coll::plan::Move;
using ::coll::plan::MoveKind;
using ::coll::plan::MovePlan;
using ::coll::plan::TargetsPlan;

/// `mesh` as the planners take it.
::coll::plan::Mesh toPlanMesh(MeshOp mesh);

/// Bytes of an element that travels or lies in memory: at least one.
int64_t getElementBytes(RankedTensorType type);

/// Plans for one mesh; a second question is a look-up.
class ReshardPlans {
public:
  /// Plans by bytes or, where `topology` names a file (plan/topology.h), by the time over its
  /// links. Emits an error at the mesh where the file is wrong or has too few ranks.
  static FailureOr<ReshardPlans> create(MeshOp mesh, StringRef topology);

  /// The moves from one sharding of a value to another. `type` is global.
  MovePlan plan(RankedTensorType type, ShardingAttr from, ShardingAttr to);

  /// The plan for all targets of one value, over one base.
  TargetsPlan planTargets(RankedTensorType type, ShardingAttr from, ArrayRef<ShardingAttr> targets);

  /// In canonical form.
  Layout layoutOf(RankedTensorType type, ShardingAttr sharding);
  ShardingAttr shardingOf(RankedTensorType type, const Layout &layout, ReductionKind partialKind);
  SmallVector<StringAttr> axesOf(ArrayRef<int> axes);

private:
  ReshardPlans(MeshOp mesh, ::coll::plan::ReshardPlanner planner)
      : mesh_(mesh), planner_(std::move(planner)) {}

  MeshOp mesh_;
  ::coll::plan::ReshardPlanner planner_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_RESHARD_PLANS_H
