//===- split_ranks_classify.h - which ranks run the same code ---------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_SPLIT_RANKS_CLASSIFY_H
#define COLL_PASSES_TRANSFORM_SPLIT_RANKS_CLASSIFY_H

#include "passes/analysis/rank_classes.h"
#include "passes/analysis/rank_expr.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::coll {

/// A control operation that communicates and that every rank decides by itself.
struct RankDecision {
  Operation *op;
  /// scf.if: the condition; scf.index_switch: the selector; scf.for: lower bound,
  /// upper bound and step.
  SmallVector<RankExpr, 3> exprs;

  /// The region that `rank` runs (for a loop: 0), or -1 where it runs none; no value
  /// where an expression is undefined on the rank.
  RankValue evaluate(int64_t rank) const;
};

/// Sorts ranks into classes by the decisions that they reach.
class RankClassifier {
public:
  explicit RankClassifier(int64_t numRanks) : numRanks_(numRanks), classOf_(numRanks, 0) {}

  /// Refines the classes by the decisions in `function` and in what it calls. Emits
  /// an error if a decision is undefined on some rank.
  LogicalResult visit(func::FuncOp function);

  /// The ranks of each class, ascending; classes in the order of their first rank.
  SmallVector<SmallVector<int64_t>> getClasses() const;

  /// The decision that `op` takes, or null if ranks do not differ in it.
  const RankDecision *getDecision(Operation *op);

  CommunicationFinder &getCommunication() { return communication_; }

private:
  LogicalResult visitFunction(func::FuncOp function, ArrayRef<int64_t> ranks);
  LogicalResult visitRegion(Region &region, ArrayRef<int64_t> ranks);
  LogicalResult visitDecision(const RankDecision &decision, ArrayRef<int64_t> ranks);
  void refine(ArrayRef<int64_t> ranks, ArrayRef<int64_t> values);

  int64_t numRanks_;
  unsigned numClasses_ = 1;
  SmallVector<unsigned> classOf_;
  DenseMap<Operation *, std::optional<RankDecision>> decisions_;
  DenseMap<Operation *, llvm::BitVector> visited_;
  CommunicationFinder communication_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_SPLIT_RANKS_CLASSIFY_H
