//===- weights.h - state arguments, followed to where they are used ---*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STRATEGY_WEIGHTS_H
#define COLL_PASSES_TRANSFORM_STRATEGY_WEIGHTS_H

#include "passes/analysis/op_kinds.h"
#include "passes/transform/strategy/step_sharding.h"

namespace mlir::coll {

/// The state argument that a value is, moved or converted, and which of the argument's dimensions
/// each of the value's is, or -1.
struct Weights {
  unsigned argument;
  SmallVector<int64_t> dims;
};

/// Which values of a step are its state, moved or converted only.
class WeightsOfStep {
public:
  explicit WeightsOfStep(const StepSharding &sharding);

  /// Null if the value is not weights.
  const Weights *find(Value value) const;

  /// The sharding rule of the operation. Dimensions whose split would need parts of neighbours'
  /// blocks get no factor: weights are not split where each step would exchange parts.
  const ShardingRule &ruleOf(Operation *op);

  using Visit = llvm::function_ref<void(Operation *)>;
  using Carry = llvm::function_ref<void(Value from, Value to)>;
  /// Visits the step's operations in program order, including those of loops that all ranks run in
  /// the same way; `carry` is called with each value that a loop passes on, and the value that it
  /// becomes.
  void walk(Visit visit, Carry carry);

private:
  void walkBlock(Block &block, Visit visit, Carry carry);
  void trace(Operation *op);

  func::FuncOp step_;
  llvm::DenseMap<Value, Weights> weights_;
  OpKinds kinds_;
  llvm::DenseMap<unsigned, std::unique_ptr<ShardingRule>> rules_; // by kind
};

/// The dimension that walks `factor`, or -1.
int64_t findDim(ArrayRef<DimFactor> dims, int64_t factor);

/// A sum over products of two tensors, with a loop that only they have.
bool isProduct(Operation *op, const ShardingRule &rule);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STRATEGY_WEIGHTS_H
