//===- uniform_values.h - values that are equal on all ranks ----------*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_PROOF_UNIFORM_VALUES_H
#define COLL_PASSES_ANALYSIS_PROOF_UNIFORM_VALUES_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

class GroupTable;

/// Which values of a function vary over the ranks that run it, and along which axes of
/// the module's mesh. A value follows, on every rank in the same way, from constants,
/// from arguments, which vary along the axes of their `coll.sharding` (along all where
/// they have none), and from results of collectives: all_reduce, all_gather and broadcast
/// make them equal along their group's axes. What a loop carries is uniform if it starts
/// so, stays so, and the loop runs equally often everywhere. Where there are several
/// meshes, or none, a value varies along all axes or none.
class UniformValues {
public:
  UniformValues(func::FuncOp function, GroupTable &groups);

  using AxisSet = uint64_t; // bit i: axis i of the mesh

  bool isUniform(Value value) const { return varying_.lookup(value) == 0; }
  AxisSet getVaryingAxes(Value value) const { return varying_.lookup(value); }

private:
  AxisSet axesOf(ArrayRef<StringAttr> axes) const;
  std::optional<AxisSet> axesOf(Operation *op, GroupAttr group);
  AxisSet axesOf(ShardingAttr sharding) const;
  AxisSet axesOf(ValueRange values) const;
  AxisSet axesOfResults(Operation *op);
  AxisSet axesReadBy(Operation *op);
  bool visit(Operation *op);
  bool visitControl(Operation *op, bool &handled);
  bool mark(ValueRange values, AxisSet axes);

  llvm::DenseMap<Value, AxisSet> varying_;
  GroupTable &groups_;
  MeshOp mesh_;     // null if there is not just one
  AxisSet all_ = 1; // never empty, so that what is not followed counts as varying
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_PROOF_UNIFORM_VALUES_H
