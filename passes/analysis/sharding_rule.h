//===- sharding_rule.h - how an operation's dimensions relate ---------*- C++ -*-===//
//
// A sharding rule names the loops of an operation that may be split over mesh axes
// ("factors") and says which dimension of which operand and result each one walks.
// Propagation, reshard insertion and partitioning all work from rules alone; an
// operation becomes partitionable by getting a rule in sharding_rule.cc.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_SHARDING_RULE_H
#define COLL_PASSES_ANALYSIS_SHARDING_RULE_H

#include "dialect/dialect.h"
#include "plan/halo.h"

namespace mlir::coll {

/// A loop that may be split.
struct Factor {
  int64_t size;
  /// Set for a loop whose iterations are combined: splitting it leaves the
  /// results partial.
  std::optional<ReductionKind> reduction;
  /// The dimension is accessed at computed positions. Where it is split, each rank
  /// accesses those within its block and leaves out the others.
  bool isIndexed = false;
};

using ::coll::plan::Reach;

/// The factor that a dimension walks: extent = factor size * unit, the factor being
/// the major part. factor -1: the dimension must be whole on every rank.
struct DimFactor {
  int64_t factor = -1;
  int64_t unit = 1;
  /// Set for an operand's dimension of which an iteration reads other elements than its own: it is
  /// split as the factor is; neighbours exchange what each reads beyond its block. The unit is 1.
  std::optional<Reach> reach;
};

struct ShardingRule {
  SmallVector<Factor> factors;
  /// One list per operand and per result, one entry per dimension; empty for what
  /// is not a tensor.
  SmallVector<SmallVector<DimFactor>> operands;
  SmallVector<SmallVector<DimFactor>> results;
  /// Operand that carries a reduction's initial value, or -1. It is partial
  /// wherever the result is.
  int64_t initOperand = -1;
  /// Sets of operands in which the operation is jointly linear: if exactly these
  /// are partial sums, so is the result.
  SmallVector<SmallVector<int64_t>> linearSets;

  /// Adds a factor and returns its number.
  int64_t addFactor(int64_t size, std::optional<ReductionKind> reduction = std::nullopt);
  /// Adds a factor for a dimension that is accessed at computed positions.
  int64_t addIndexedFactor(int64_t size, std::optional<ReductionKind> reduction = std::nullopt);
};

/// The rule of `op`. Operations without one (and ones with regions that hold other
/// tensor operations) need whole operands and give whole results: the rule then has
/// no factors.
ShardingRule getShardingRule(Operation *op);

/// A choice between two ways to split an operation; costs are those of a rank.
struct Decision {
  std::string chosen, other; // "as operand 1 is split"
  int64_t chosenBytes = 0, chosenWork = 0, otherBytes = 0, otherWork = 0;

  std::string describe() const;
};

/// How one operation is split.
struct Assignment {
  /// Per factor: the axes that split it; null if it is whole.
  SmallVector<DimShardingAttr> factors;
  /// Axes over which partial operands pass through, by linear set `linearSet`.
  SmallVector<StringAttr> linearAxes;
  int64_t linearSet = -1;
  /// Set by assignFromResults if a partial result follows neither from partial operands nor from
  /// split loops.
  bool unexplained = false;
  /// Set by chooseAssignment if it compared candidates: the reason for the choice, and the cost of
  /// the best other candidate.
  std::optional<Decision> decision;
};

/// The shardings that an operation's operands have and its uses ask for.
struct Surroundings {
  /// Per operand: its sharding, null for what is not a tensor.
  ArrayRef<ShardingAttr> operands;
  /// Per result: the shardings that its uses ask for, as far as they are known.
  ArrayRef<SmallVector<ShardingAttr, 2>> requests;
  /// Whether a value is zero on every rank.
  llvm::function_ref<bool(Value)> isNeutral;
  /// If false, larger operands decide first, whatever that costs.
  bool decidesByCost = true;
};

/// The cheapest of at most eight assignments, by what a rank would send to bring the operands
/// into it and the results to their uses, and by the work that it does. Without a conflict, it
/// is the one that follows the operands. Partial operands pass through a linear set where they
/// can; the others are listed in `rejected` and count as combined.
Assignment chooseAssignment(Operation *op, const ShardingRule &rule, MeshOp mesh,
                            const Surroundings &surroundings, SmallVectorImpl<int64_t> &rejected);

/// Whether both shardings cut a tensor of `shape` into the same blocks, even if their units differ.
bool haveSameBlocks(MeshOp mesh, ShardingAttr a, ShardingAttr b, ArrayRef<int64_t> shape);

/// The assignment that gives these result shardings. Where a partial result could
/// come from several loops, the operands' shardings decide.
Assignment assignFromResults(Operation *op, const ShardingRule &rule,
                             ArrayRef<ShardingAttr> results, ArrayRef<ShardingAttr> operands);

/// The sharding that the assignment needs for operand `index`, a ranked tensor.
ShardingAttr getOperandSharding(const ShardingRule &rule, const Assignment &assignment, MeshOp mesh,
                                int64_t index);

/// The sharding that result `index`, a ranked tensor, has under the assignment.
ShardingAttr getResultSharding(const ShardingRule &rule, const Assignment &assignment, MeshOp mesh,
                               int64_t index);

/// The kind of a scalar combiner `op` (arith.addf, arith.maximumf, …), or nullopt.
std::optional<ReductionKind> getCombinerKind(Operation *op);

/// The kind by which `block` combines its argument number `accumulator` into the
/// value that its terminator yields at `position`, or nullopt.
std::optional<ReductionKind> getReductionKind(Block &block, unsigned accumulator,
                                              unsigned position);

/// `value` is a constant (or fill) of the neutral element of `kind`.
bool isIdentity(Value value, ReductionKind kind);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_SHARDING_RULE_H
