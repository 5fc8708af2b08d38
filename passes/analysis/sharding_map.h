//===- sharding_map.h - the sharding of every value -------------------*- C++ -*-===//
//
// Shardings live in the IR: on function arguments and results (coll.sharding) and on
// operations (coll.shardings, one per result). Arguments of scf regions have the
// sharding of the loop result they become. These functions read that.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_SHARDING_MAP_H
#define COLL_PASSES_ANALYSIS_SHARDING_MAP_H

#include "dialect/dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::coll {

/// The sharding that the IR records for `value`; null if it records none, and
/// for values that are not ranked tensors.
ShardingAttr getRecordedSharding(Value value);

/// The sharding over `mesh` in which each rank has all of `value`; null if it is not a ranked
/// tensor.
ShardingAttr getReplicatedSharding(MeshOp mesh, Value value);

/// Loops whose carried values can be split: every scf.for, and an scf.while that
/// forwards its carried values unchanged to its body and its results.
bool isUniformLoop(Operation *op);

/// The loop or branch results' shardings that `terminator`'s operands must have;
/// entry i is null if operand i has none. Null values for other terminators.
SmallVector<ShardingAttr> getTerminatorShardings(Operation *terminator);

/// Tensors from outside that regions of `op` read, which see whole values; none for loops and
/// branches, whose operations have shardings of their own.
SmallVector<Value> getCapturedTensors(Operation *op);

/// Records `shardings` on `op`; what is null (not a tensor) is recorded as `unit`.
void setShardings(Operation *op, ArrayRef<ShardingAttr> shardings);

/// The results' shardings that `op` records, one per result, null if not a tensor.
SmallVector<ShardingAttr> getResultShardings(Operation *op);

/// For a value of an scf.while or scf.for that `isUniformLoop`: the number of the
/// carried value that region argument `argument` holds, or -1 (induction variable).
int64_t getCarriedIndex(BlockArgument argument);

/// The mesh that shardings of `function` name: that of the first sharding among its
/// arguments and results; null if none has one.
MeshOp getFunctionMesh(FunctionOpInterface function);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_SHARDING_MAP_H
