//===- expert.cc - weights of experts, a part of them on each rank ----------------===//
//
// Experts are weights that products take one after the other, each with tokens of its own:
//
//   h[e,c,f] = x[e,c,d] · w1[e,d,f]    e walks both operands and the result: it counts experts
//   h[c,e,f] = x[c,d]   · w1[e,d,f]    each expert sees all tokens; e counts experts where the
//   y[c,e,d] = h[c,e,f] · w2[e,f,d]    result meets the experts of a later product by it
//
// A tensor that is added to the values of experts or scales them, such as a bias for each expert,
// is split with them; the weights of the product that routes tokens are not.
//
//===----------------------------------------------------------------------------===//

#include "passes/transform/strategy/strategies.h"
#include "passes/transform/strategy/weights.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::coll {

namespace {

class ExpertSplitter {
public:
  ExpertSplitter(StepSharding &sharding, StringAttr axis, int64_t ranks)
      : sharding_(sharding), axis_(axis), ranks_(ranks), weights_(sharding) {}

  /// Whether the step has experts, as many as ranks at least.
  bool hasExperts() {
    bool found = false;
    weights_.walk(
        [&](Operation *op) {
          forEachExpert(op, weights_.ruleOf(op),
                        [&](const Weights &, unsigned, unsigned) { found = true; });
        },
        [](Value, Value) {});
    return found;
  }

  bool run() {
    auto ignore = [](Value, Value) {};
    weights_.walk([&](Operation *op) { splitBatched(op); }, ignore);
    if (!hasExperts_)
      return false;
    weights_.walk([&](Operation *op) { splitBroadcast(op); }, ignore);
    weights_.walk([&](Operation *op) { splitAdded(op); },
                  [&](Value from, Value to) {
                    if (auto split = splits_.find(from); split != splits_.end())
                      splits_[to] = int64_t(split->second);
                  });
    splitOptimizerState(sharding_, axis_);
    return true;
  }

private:
  using Decide = llvm::function_ref<void(const Weights &weights, unsigned operand, unsigned dim)>;

  /// Calls `decide` with each dimension of a product's weights that the result has, too. A matrix
  /// an expert has three dimensions at least; a product of two weights has no tokens.
  void forEachDim(Operation *op, const ShardingRule &rule, Decide decide) {
    if (!isProduct(op, rule))
      return;
    for (unsigned operand : {0u, 1u}) {
      const Weights *weights = weights_.find(op->getOperand(operand));
      if (!weights || weights->dims.size() < 3 || weights_.find(op->getOperand(1 - operand)))
        continue;
      for (auto [dim, walked] : llvm::enumerate(rule.operands[operand]))
        if (walked.factor >= 0 && weights->dims[dim] >= 0 &&
            !rule.factors[walked.factor].reduction && rule.factors[walked.factor].size >= ranks_ &&
            findDim(rule.results[0], walked.factor) >= 0)
          decide(*weights, operand, dim);
    }
  }

  /// Calls `decide` only for dimensions that the tokens have, too: these count experts for certain.
  void forEachExpert(Operation *op, const ShardingRule &rule, Decide decide) {
    forEachDim(op, rule, [&](const Weights &weights, unsigned operand, unsigned dim) {
      if (findDim(rule.operands[1 - operand], rule.operands[operand][dim].factor) >= 0)
        decide(weights, operand, dim);
    });
  }

  void splitBatched(Operation *op) {
    const ShardingRule &rule = weights_.ruleOf(op);
    if (isProduct(op, rule))
      for (Value operand : op->getOperands())
        if (const Weights *weights = weights_.find(operand))
          isMultiplied_.insert(weights->argument);
    forEachExpert(op, rule, [&](const Weights &weights, unsigned, unsigned dim) {
      hasExperts_ = true; // even where a pattern has decided how they are split
      split(weights, dim);
    });
  }

  void splitBroadcast(Operation *op) {
    const ShardingRule &rule = weights_.ruleOf(op);
    forEachDim(op, rule, [&](const Weights &weights, unsigned operand, unsigned dim) {
      const int64_t factor = rule.operands[operand][dim].factor;
      if (!isDecided(weights) && findDim(rule.operands[1 - operand], factor) < 0 &&
          meetsExperts(op->getResult(0), findDim(rule.results[0], factor)))
        split(weights, dim);
    });
  }

  void split(const Weights &weights, unsigned dim) {
    if (!isDecided(weights))
      sharding_.split(weights.argument, weights.dims[dim], axis_);
  }

  bool isSplit(const Weights &weights, unsigned dim) const {
    const int64_t of = weights.dims[dim];
    return of >= 0 && llvm::is_contained(sharding_.getDims(weights.argument)[of], axis_);
  }

  bool isDecided(const Weights &weights) const {
    return llvm::any_of(sharding_.getDims(weights.argument),
                        [&](ArrayRef<StringAttr> axes) { return llvm::is_contained(axes, axis_); });
  }

  /// Whether a product takes the parts of `value` along `dim` each with an expert of its own.
  bool meetsExperts(Value value, int64_t dim) {
    SmallVector<std::pair<Value, int64_t>> open = {{value, dim}};
    llvm::DenseSet<Value> seen;
    while (!open.empty() && seen.size() < kMaxFollowed) {
      auto [at, walkedDim] = open.pop_back_val();
      if (!seen.insert(at).second)
        continue;
      for (OpOperand &use : at.getUses()) {
        Operation *op = use.getOwner();
        const ShardingRule &rule = weights_.ruleOf(op);
        if (rule.factors.empty())
          continue;
        const int64_t factor = rule.operands[use.getOperandNumber()][walkedDim].factor;
        if (factor < 0)
          continue;
        if (isProduct(op, rule) && takesExperts(op, rule, factor))
          return true;
        for (auto [index, result] : llvm::enumerate(op->getResults()))
          if (int64_t next = findDim(rule.results[index], factor); next >= 0)
            open.push_back({result, next});
      }
    }
    return false;
  }

  bool takesExperts(Operation *op, const ShardingRule &rule, int64_t factor) {
    return llvm::any_of(llvm::seq(2u), [&](unsigned operand) {
      const Weights *weights = weights_.find(op->getOperand(operand));
      const int64_t dim = findDim(rule.operands[operand], factor);
      return weights && dim >= 0 && isSplit(*weights, dim);
    });
  }

  void splitAdded(Operation *op) {
    const ShardingRule &rule = weights_.ruleOf(op);
    const int64_t factor = rule.factors.empty() ? -1 : findSplit(op, rule);
    if (factor < 0)
      return;
    if (!isProduct(op, rule))
      for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
        const Weights *weights = weights_.find(operand);
        const int64_t dim = findDim(rule.operands[index], factor);
        if (weights && dim >= 0 && weights->dims[dim] >= 0 && weights->dims.size() > 1 &&
            !isMultiplied_.contains(weights->argument))
          split(*weights, dim);
      }
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      if (int64_t dim = findDim(rule.results[index], factor); dim >= 0)
        splits_[result] = dim;
  }

  /// The factor that counts experts in the operands, or -1.
  int64_t findSplit(Operation *op, const ShardingRule &rule) {
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      if (auto found = splits_.find(operand); found != splits_.end())
        if (int64_t factor = rule.operands[index][found->second].factor; factor >= 0)
          return factor;
      if (const Weights *weights = weights_.find(operand); weights && isProduct(op, rule))
        for (auto [dim, walked] : llvm::enumerate(rule.operands[index]))
          if (walked.factor >= 0 && isSplit(*weights, dim))
            return walked.factor;
    }
    return -1;
  }

  /// Values that are followed in the search for a later product.
  static constexpr size_t kMaxFollowed = 1024;

  StepSharding &sharding_;
  StringAttr axis_;
  int64_t ranks_;
  WeightsOfStep weights_;
  bool hasExperts_ = false;
  llvm::DenseSet<unsigned> isMultiplied_; // arguments that a product reads
  llvm::DenseMap<Value, int64_t> splits_; // the dimension of a value that counts experts
};

} // namespace

bool splitExperts(StepSharding &sharding, StringAttr axis) {
  const int64_t ranks = *sharding.getMesh().getAxisSize(axis.getValue());
  return ExpertSplitter(sharding, axis, ranks).run();
}

bool hasExperts(func::FuncOp step) {
  StepSharding whole(step, MeshOp());
  return ExpertSplitter(whole, StringAttr(), /*ranks=*/2).hasExperts();
}

} // namespace mlir::coll
