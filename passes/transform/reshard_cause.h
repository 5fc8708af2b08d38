//===- reshard_cause.h - the reason for a reshard ---------------------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_RESHARD_CAUSE_H
#define COLL_PASSES_TRANSFORM_RESHARD_CAUSE_H

#include "passes/analysis/reshard_plans.h"

namespace mlir::coll {

/// A use of a value, and how it needs it.
struct ReshardUse {
  Operation *user = nullptr;
  ShardingAttr needs;
};

/// The attribute `coll.cause` (dialect/notes.h) of a reshard of `value` that serves `uses`.
DictionaryAttr describeCause(ReshardPlans &plans, MeshOp mesh, Value value, ShardingAttr from,
                             ShardingAttr to, ArrayRef<ReshardUse> uses);

/// "[dp, -]", "[dp+tp, -], partial sum over dp".
std::string describeSharding(ShardingAttr sharding);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_RESHARD_CAUSE_H
