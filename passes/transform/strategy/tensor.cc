//===- tensor.cc - weights of products, by columns and by rows --------------------===//
//
// Follows the step in program order. Each value may come from one state argument (weights, moved
// and reshaped), and one of its dimensions may be split by the axis:
//
//   h = x · w1    x is whole: w1 is split by columns, and h along its last dimension
//   y = h · w2    h is split where the sum runs: w2 is split by rows, y is summed over ranks
//
// Columns are split only where such a second product follows, or where they are many, as those of
// a vocabulary are: a residual stream stays whole.
//
//===----------------------------------------------------------------------------===//

#include "passes/transform/strategy/strategies.h"
#include "passes/transform/strategy/weights.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::coll {

namespace {

class WeightSplitter {
public:
  WeightSplitter(StepSharding &sharding, StringAttr axis)
      : sharding_(sharding), axis_(axis), ranks_(*sharding.getMesh().getAxisSize(axis.getValue())),
        weights_(sharding) {}

  void run() {
    weights_.walk([&](Operation *op) { visit(op); },
                  [&](Value from, Value to) {
                    if (auto split = splits_.find(from); split != splits_.end())
                      splits_[to] = int64_t(split->second);
                  });
    splitOptimizerState(sharding_, axis_);
  }

private:
  void visit(Operation *op) {
    const ShardingRule &rule = weights_.ruleOf(op);
    if (rule.factors.empty())
      return;
    int64_t split = findSplit(op, rule);
    if (isProduct(op, rule))
      split = splitProduct(op, rule, split);
    else if (split >= 0)
      splitVectors(op, rule, split);
    for (auto [index, result] : llvm::enumerate(op->getResults())) {
      int64_t dim = split < 0 ? -1 : findDim(rule.results[index], split);
      if (dim >= 0)
        splits_[result] = dim;
    }
  }

  /// The factor that the operands' split dimensions walk, or -1.
  int64_t findSplit(Operation *op, const ShardingRule &rule) {
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      auto split = splits_.find(operand);
      if (split != splits_.end() && rule.operands[index][split->second].factor >= 0)
        return rule.operands[index][split->second].factor;
      const Weights *weights = weights_.find(operand);
      if (!weights)
        continue;
      for (auto [dim, walked] : llvm::enumerate(rule.operands[index]))
        if (walked.factor >= 0 && isSplit(*weights, dim))
          return walked.factor;
    }
    return -1;
  }

  bool isSplit(const Weights &weights, size_t dim) {
    int64_t of = weights.dims[dim];
    return of >= 0 && llvm::is_contained(sharding_.getDims(weights.argument)[of], axis_);
  }

  bool isDecided(const Weights &weights) {
    return llvm::any_of(sharding_.getDims(weights.argument),
                        [&](ArrayRef<StringAttr> axes) { return llvm::is_contained(axes, axis_); });
  }

  /// Decides about the weights of a product; returns the factor that is split.
  int64_t splitProduct(Operation *op, const ShardingRule &rule, int64_t split) {
    for (unsigned index : {0u, 1u}) {
      const Weights *weights = weights_.find(op->getOperand(index));
      if (!weights || weights_.find(op->getOperand(1 - index)) || isDecided(*weights))
        continue;
      int64_t dim =
          split >= 0 ? findDim(rule.operands[index], split) : findColumn(op, rule, index, *weights);
      if (dim < 0 || weights->dims[dim] < 0)
        continue;
      sharding_.split(weights->argument, weights->dims[dim], axis_);
      if (isDecided(*weights))
        return rule.operands[index][dim].factor;
    }
    return split;
  }

  /// The longest dimension of weights that only they and the result have, and that the axis
  /// divides; or -1.
  int64_t findColumn(Operation *op, const ShardingRule &rule, unsigned index,
                     const Weights &weights) {
    int64_t best = -1, longest = 0, rows = 1;
    for (DimFactor walked : rule.operands[index])
      if (walked.factor >= 0 && rule.factors[walked.factor].reduction)
        rows *= rule.factors[walked.factor].size;
    for (auto [dim, walked] : llvm::enumerate(rule.operands[index])) {
      if (walked.factor < 0 || walked.unit != 1 || weights.dims[dim] < 0 ||
          findDim(rule.operands[1 - index], walked.factor) >= 0 ||
          findDim(rule.results[0], walked.factor) < 0)
        continue;
      int64_t extent = rule.factors[walked.factor].size;
      if (extent % ranks_ == 0 && extent > longest) {
        best = dim;
        longest = extent;
      }
    }
    if (best < 0)
      return -1;
    int64_t dim = findDim(rule.results[0], rule.operands[index][best].factor);
    bool isUseful =
        longest > kManyColumns * rows || meetsWeights(op->getResult(0), dim, weights.argument);
    return isUseful ? best : -1;
  }

  static bool leavesOneElement(Operation *op) {
    return llvm::all_of(op->getResultTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1;
    });
  }

  /// Whether a product with other weights than those of argument `weights` sums over dimension
  /// `dim` of `value`, and no other reduction does, such as that of a layer norm. A norm for
  /// clipping does no harm: its sum over ranks is one number.
  bool meetsWeights(Value value, int64_t dim, unsigned weights) {
    SmallVector<std::pair<Value, int64_t>> open = {{value, dim}};
    llvm::DenseSet<Value> seen;
    bool found = false;
    while (!open.empty() && seen.size() < kMaxFollowed) {
      auto [at, walkedDim] = open.pop_back_val();
      if (!seen.insert(at).second)
        continue;
      for (OpOperand &use : at.getUses()) {
        Operation *op = use.getOwner();
        const ShardingRule &rule = weights_.ruleOf(op);
        if (rule.factors.empty())
          continue;
        unsigned number = use.getOperandNumber();
        int64_t factor = rule.operands[number][walkedDim].factor;
        if (factor < 0)
          continue;
        if (!rule.factors[factor].reduction) {
          for (auto [index, result] : llvm::enumerate(op->getResults()))
            if (int64_t next = findDim(rule.results[index], factor); next >= 0)
              open.push_back({result, next});
          continue;
        }
        if (leavesOneElement(op))
          continue;
        if (!isProduct(op, rule) || number > 1)
          return false;
        const Weights *others = weights_.find(op->getOperand(1 - number));
        found |= others && others->argument != weights;
      }
    }
    return found;
  }

  /// A tensor that is added to a split value or scales it, such as a bias, is split with it.
  void splitVectors(Operation *op, const ShardingRule &rule, int64_t split) {
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      const Weights *weights = weights_.find(operand);
      if (!weights || isDecided(*weights) || sharding_.getType(weights->argument).getRank() != 1)
        continue;
      int64_t dim = findDim(rule.operands[index], split);
      if (dim >= 0 && weights->dims[dim] >= 0)
        sharding_.split(weights->argument, weights->dims[dim], axis_);
    }
  }

  /// With this many times more columns than rows, a split is worth it even without a second
  /// product.
  static constexpr int64_t kManyColumns = 4;
  /// Values that are followed in the search for a second product.
  static constexpr size_t kMaxFollowed = 1024;

  StepSharding &sharding_;
  StringAttr axis_;
  int64_t ranks_;
  WeightsOfStep weights_;
  llvm::DenseMap<Value, int64_t> splits_;
};

} // namespace

void splitWeights(StepSharding &sharding, StringAttr axis) { WeightSplitter(sharding, axis).run(); }

} // namespace mlir::coll
