//===- state.h - state arguments of a step that move to roots -----*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_ROOTS_STATE_H
#define COLL_PASSES_TRANSFORM_ROOTS_STATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/transform/roots/bucket.h"

namespace mlir::coll {

/// Rewrites the signature of @step and @init: states that only roots have leave it, and one
/// argument for each state of a bucket comes in, behind the other states.
class RootedState {
public:
  explicit RootedState(func::FuncOp step);

  /// The states of `update` are state arguments that its results update, and those that are not
  /// forwarded are read by nothing else.
  LogicalResult check(RootUpdateOp update);

  RootLayout::Item describe(RootUpdateOp update);

  /// Builds the bucket and puts its states into new arguments. `number` is part of their names.
  void pack(RootBucket &bucket, int64_t number);

  /// Removes the packed updates and their states. `mesh` is that of the step.
  LogicalResult finish(MeshOp mesh);

private:
  /// The place of a state argument among the state arguments, or -1.
  int64_t indexOf(Value argument);
  Value addArgument(RootBucket &bucket, unsigned position, const std::string &name);
  void addResult(Value value);

  func::FuncOp step_;
  SmallVector<BlockArgument> states_; // as they were
  llvm::SmallBitVector removed_;      // by state
  SmallVector<RootUpdateOp> updates_; // packed ones
  int64_t numAdded_ = 0;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_ROOTS_STATE_H
