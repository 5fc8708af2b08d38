//===- step_sharding.h - the shardings that a step's arguments get ----*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STRATEGY_STEP_SHARDING_H
#define COLL_PASSES_TRANSFORM_STRATEGY_STEP_SHARDING_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

/// `state['params'][0]` as `state/params/0`; `arg3` where argument 3 has no name.
std::string getArgumentPath(func::FuncOp step, unsigned index);

/// The decisions of patterns and strategies about the arguments of one step, before they are
/// written to the IR. Only arguments that are ranked tensors have dimensions here.
class StepSharding {
public:
  StepSharding(func::FuncOp step, MeshOp mesh);

  func::FuncOp getStep() const { return step_; }
  MeshOp getMesh() const { return mesh_; }
  unsigned size() const { return dims_.size(); }
  bool isTensor(unsigned index) const;
  bool isState(unsigned index) const;
  RankedTensorType getType(unsigned index) const;
  std::string getPath(unsigned index) const { return getArgumentPath(step_, index); }

  /// The extent that the batch is split along: that of the first batch argument with dimensions.
  std::optional<int64_t> getBatchSize() const;

  ArrayRef<SmallVector<StringAttr>> getDims(unsigned index) const { return dims_[index]; }
  bool isSplit(unsigned index, unsigned dim) const { return !dims_[index][dim].empty(); }

  /// Decides argument `index` as a whole: strategies leave it as it is.
  void fix(unsigned index, ArrayRef<SmallVector<StringAttr>> dims);
  /// Splits a dimension by one more axis; nothing happens where the argument is fixed or split by
  /// the axis already.
  void split(unsigned index, unsigned dim, StringAttr axis);

  /// Writes `coll.sharding` on every tensor argument that carries none.
  void write();

private:
  StringRef getRole(unsigned index) const;

  func::FuncOp step_;
  MeshOp mesh_;
  SmallVector<SmallVector<SmallVector<StringAttr>>> dims_; // argument, dimension, axes
  SmallVector<bool> isFixed_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STRATEGY_STEP_SHARDING_H
