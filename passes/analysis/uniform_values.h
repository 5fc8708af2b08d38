//===- uniform_values.h - values that are equal on all ranks ----------*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_UNIFORM_VALUES_H
#define COLL_PASSES_ANALYSIS_UNIFORM_VALUES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

class GroupTable;

/// Which values of a function vary over the ranks that run it. A value is uniform
/// where it follows, on every rank in the same way, from constants, from arguments
/// whose `coll.sharding` is replicated, and from results of all_reduce, all_gather
/// and broadcast over all ranks. What a loop carries is uniform if it starts so,
/// stays so, and the loop runs equally often everywhere.
class UniformValues {
public:
  UniformValues(func::FuncOp function, GroupTable &groups);

  bool isUniform(Value value) const { return !varying_.contains(value); }

private:
  bool visit(Operation *op);
  bool visitControl(Operation *op, bool &handled);
  bool mark(Value value) { return varying_.insert(value).second; }
  bool markAll(ValueRange values);
  bool isVaryingSource(Operation *op);
  bool readsVarying(Operation *op);

  DenseSet<Value> varying_;
  GroupTable &groups_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_UNIFORM_VALUES_H
