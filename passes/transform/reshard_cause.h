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

/// What a person calls an operation: the last part of its name in JAX, "dot_general", else its own.
std::string describeOperation(Operation *op);

/// The argument of state that a value is, after operations that only move or convert its elements;
/// null if it is none.
BlockArgument findParameter(Value value);

/// Whether a gather of `value` along the axes is one that fsdp is for: of a parameter that is split
/// where the batch is, so that the ranks do different work with it.
bool isGatherOfParameter(Value value, ArrayRef<StringAttr> axes);

/// "[dp, -]", "[dp+tp, -], partial sum over dp".
std::string describeSharding(ShardingAttr sharding);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_RESHARD_CAUSE_H
