//===- propagation.h - shardings from arguments to every value --------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_PROPAGATION_H
#define COLL_PASSES_TRANSFORM_PROPAGATION_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/sharding_map.h"
#include "passes/analysis/sharding_rule.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::coll {

/// Decides the sharding of every tensor value of one function.
///
/// Forward passes run until nothing changes: each gives every result what its
/// operation makes of its operands, and finds the partial values that some use needs
/// combined; those count as combined for all their uses in the next pass. A last,
/// backward pass splits values that all their uses want split: slicing what every
/// rank computes in whole would be wasted work, and it never adds communication.
class Propagation {
public:
  Propagation(FunctionOpInterface function, MeshOp mesh) : function_(function), mesh_(mesh) {}

  void run();

  /// Writes the decisions into the IR.
  void record();

private:
  const ShardingRule &ruleOf(Operation *op);
  ShardingAttr replicated(Value value) const;
  ShardingAttr effective(Value value) const;
  SmallVector<ShardingAttr> effectiveOperands(Operation *op) const;
  bool isNeutral(Value value) const;
  void combine(Value value);

  void detachWishes();
  void forward();
  void visitBlock(Block &block);
  void visit(Operation *op);
  void visitRule(Operation *op);
  void visitLoop(Operation *op);
  void visitBranch(scf::IfOp op);
  void visitReshard(ReshardOp op);
  void visitOpaque(Operation *op);
  bool visitUserReduction(AllReduceOp op);
  void setResults(Operation *op, ArrayRef<ShardingAttr> shardings);
  void setArguments(Region &region, ArrayRef<ShardingAttr> carried);
  bool growCarried(Operation *op, SmallVectorImpl<ShardingAttr> &carried);
  ShardingAttr join(Operation *op, int64_t index, ShardingAttr carried, ShardingAttr yielded);

  void decideFunctionResults();
  void backward(Region &region);
  void refine(Operation *op);
  ShardingAttr wanted(OpOperand &use);
  ShardingAttr commonWish(Value value);

  FunctionOpInterface function_;
  MeshOp mesh_;
  llvm::DenseMap<Value, ShardingAttr> shardings_;
  llvm::DenseMap<Operation *, ShardingRule> rules_;
  llvm::DenseMap<Operation *, Assignment> assignments_;
  /// Results' shardings that the user wrote on operations.
  llvm::DenseMap<Operation *, SmallVector<ShardingAttr>> fixed_;
  /// Partial values that some use needs combined.
  llvm::DenseSet<Value> combined_;
  /// Carried values that start at zero, while it is open whether the loop makes
  /// them partial.
  llvm::DenseSet<Value> neutral_;
  bool changed_ = false;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_PROPAGATION_H
