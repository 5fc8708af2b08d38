//===- propagation.h - shardings from arguments to every value --------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_PROPAGATION_H
#define COLL_PASSES_TRANSFORM_PROPAGATION_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/op_kinds.h"
#include "passes/analysis/sharding_map.h"
#include "passes/analysis/sharding_rule.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::coll {

/// Decides the sharding of every tensor value of one function.
///
/// Forward passes run until nothing changes. Each gives every result the sharding that follows from
/// its operation's operands, and finds the partial values that some use needs combined; those count
/// as combined for all their uses in the next pass. A backward pass splits values that all their
/// uses read split, because slicing a value that every rank computes in whole wastes work; this
/// never adds communication. Rounds of both follow, in which an operation with a conflict knows
/// from the previous round what the uses of its results ask for. The cheapest round is kept.
///
/// A sharding that the user wrote on an operation becomes a pin after it, a coll.reshard whose
/// source is decided last: the operation itself is split in the cheapest way.
class Propagation {
public:
  Propagation(FunctionOpInterface function, MeshOp mesh) : function_(function), mesh_(mesh) {}

  void run();

  /// Writes the decisions into the IR.
  void record();

private:
  static constexpr int kMaxRounds = 4;
  static constexpr size_t kMaxRequests = 3;

  /// A decision about one operation and its consequences, shared by all operations of the kind that
  /// are decided in the same way.
  struct Choice {
    Assignment assignment;
    SmallVector<int64_t> rejected;
    SmallVector<ShardingAttr> operands, results; // null for what is not a tensor
    double cost = 0;                             // of its work and its halos
  };

  const ShardingRule &ruleOf(Operation *op) { return kinds_.kindOf(op).rule; }
  const Choice *choiceOf(Operation *op) const { return decided_.choices.lookup(op); }
  Choice *makeChoice(Operation *op, Assignment assignment);
  ShardingAttr effective(Value value) const;
  SmallVector<ShardingAttr> effectiveOperands(Operation *op) const;
  bool isNeutral(Value value) const;
  void combine(Value value);

  void insertPins();
  ShardingAttr pinTarget(ReshardOp pin, ShardingAttr have) const;
  void resolvePins();
  void keepIfCheaper(bool (Propagation::*insert)());
  void runRounds();
  void runRound();
  bool meetsConflict() const;
  void collectRequests();
  double getCost();
  double reshardBytes(RankedTensorType type, ShardingAttr from, ShardingAttr to);

  // propagation_regain.cc
  bool stageReductions();
  bool regainSplits();
  bool scatterSums();
  ShardingAttr scattered(Value value);
  bool scatterCollected();
  SmallVector<StringAttr> axesGatheredIn(Operation *loop);
  ShardingAttr commonPart(Value value, bool mayReadAll);
  ShardingAttr collectedPart(tensor::InsertSliceOp insert, ArrayRef<StringAttr> gathered);
  void insertPin(Value value, ShardingAttr request, const Twine &why);
  void dropRegained();
  ShardingAttr regained(Operation *op);

  // propagation_forward.cc
  void forward();
  void visitBlock(Block &block);
  void visit(Operation *op);
  SmallVector<ShardingAttr, 2> knownRequests(Value result) const;
  bool hasOpenPin(Operation *op) const;
  bool addOpenRequests(Operation *op, const Assignment &assignment,
                       MutableArrayRef<SmallVector<ShardingAttr, 2>> requests);
  void visitRule(Operation *op);
  const Choice *choose(Operation *op);
  const Choice *chooseAnew(Operation *op, ArrayRef<ShardingAttr> operands,
                           MutableArrayRef<SmallVector<ShardingAttr, 2>> requests);
  void visitReshard(ReshardOp op);
  void visitOpaque(Operation *op);
  bool visitUserReduction(AllReduceOp op);
  void setResults(Operation *op, ArrayRef<ShardingAttr> shardings);

  // propagation_regions.cc
  void visitLoop(Operation *op);
  void visitBranch(scf::IfOp op);
  void setArguments(Region &region, ArrayRef<ShardingAttr> carried);
  bool growCarried(Operation *op, SmallVectorImpl<ShardingAttr> &carried);
  ShardingAttr join(Operation *op, int64_t index, ShardingAttr carried, ShardingAttr yielded);

  // propagation_backward.cc
  void decideFunctionResults();
  void backward(Region &region);
  void refine(Operation *op);
  const Choice *refined(Operation *op, const Choice &choice, ShardingAttr request);
  ShardingAttr requestOf(OpOperand &use);
  ShardingAttr requestBehind(OpOperand &use);
  ShardingAttr commonRequest(Value value);

  /// The decisions of one round.
  struct Decisions {
    llvm::DenseMap<Value, ShardingAttr> shardings;
    llvm::DenseMap<Operation *, const Choice *> choices;
    /// Partial values that some use needs combined.
    llvm::DenseSet<Value> combined;
    /// The shardings of the function's results; null for what is not a tensor.
    SmallVector<ShardingAttr> returned;
  };

  FunctionOpInterface function_;
  MeshOp mesh_;
  Decisions decided_;
  OpKinds kinds_;
  std::deque<Choice> choices_;
  ShardingAnswers<const Choice *> chosen_;
  llvm::DenseMap<std::pair<const Choice *, ShardingAttr>, const Choice *> refined_;
  llvm::DenseMap<std::tuple<Type, ShardingAttr, ShardingAttr>, double> reshardBytes_;
  /// Tensors from outside that an operation's regions read.
  llvm::DenseMap<Operation *, SmallVector<Value>> captured_;
  /// Results' shardings that the user wrote on operations, partial ones among them.
  llvm::DenseMap<Operation *, SmallVector<ShardingAttr>> fixed_;
  /// Reshards that hold the shardings that the user wrote on the operations before them.
  llvm::SetVector<Operation *> pins_;
  /// The pins that regainSplits, scatterSums or scatterCollected inserted, while it is open whether
  /// they pay.
  SmallVector<ReshardOp> regained_;
  /// The members of `pins_` that `scatterSums` inserted.
  llvm::DenseSet<Operation *> sums_;
  /// Per value: the different shardings that its uses asked for in the round before.
  llvm::DenseMap<Value, SmallVector<ShardingAttr, 2>> requests_;
  /// Carried values that start at zero, while it is open whether the loop makes
  /// them partial.
  llvm::DenseSet<Value> neutral_;
  bool changed_ = false;
  bool decidesByCost_ = true;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_PROPAGATION_H
