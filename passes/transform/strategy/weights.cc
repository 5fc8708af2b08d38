//===- weights.cc - state arguments, followed to where they are used --------------===//

#include "passes/transform/strategy/weights.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/sharding_map.h"

namespace mlir::coll {

WeightsOfStep::WeightsOfStep(const StepSharding &sharding) : step_(sharding.getStep()) {
  for (unsigned index = 0; index < sharding.size(); ++index) {
    if (!sharding.isState(index) || !sharding.isTensor(index))
      continue;
    Weights weights{index, {}};
    llvm::append_range(weights.dims, llvm::seq<int64_t>(0, sharding.getType(index).getRank()));
    weights_[step_.getArgument(index)] = std::move(weights);
  }
  walk([&](Operation *op) { trace(op); },
       [&](Value from, Value to) {
         if (const Weights *weights = find(from))
           weights_[to] = Weights(*weights);
       });
}

const Weights *WeightsOfStep::find(Value value) const {
  auto found = weights_.find(value);
  return found == weights_.end() ? nullptr : &found->second;
}

const ShardingRule &WeightsOfStep::ruleOf(Operation *op) {
  const OpKinds::Kind &kind = kinds_.kindOf(op);
  std::unique_ptr<ShardingRule> &rule = rules_[kind.number];
  if (rule)
    return *rule;
  rule = std::make_unique<ShardingRule>(kind.rule);
  for (auto &dims : rule->operands)
    for (DimFactor &dim : dims)
      dim = dim.reach ? DimFactor() : dim;
  return *rule;
}

void WeightsOfStep::walk(Visit visit, Carry carry) {
  walkBlock(step_.getBody().front(), visit, carry);
}

void WeightsOfStep::walkBlock(Block &block, Visit visit, Carry carry) {
  for (Operation &op : block.without_terminator()) {
    if (!isa<scf::ForOp, scf::WhileOp>(op) || !isUniformLoop(&op)) {
      if (op.getNumRegions() == 0 || isa<linalg::LinalgOp>(op))
        visit(&op);
      continue;
    }
    unsigned bounds = isa<scf::ForOp>(op) ? 3 : 0, skipped = isa<scf::ForOp>(op) ? 1 : 0;
    for (Region &region : op.getRegions()) {
      for (auto [index, init] : llvm::enumerate(op.getOperands().drop_front(bounds)))
        carry(init, region.getArgument(index + skipped));
      walkBlock(region.front(), visit, carry);
    }
    Operation *yield = op.getRegions().back().front().getTerminator();
    for (auto [value, result] : llvm::zip(yield->getOperands(), op.getResults()))
      carry(value, result);
  }
}

/// Follows weights through an operation that only moves or converts them.
void WeightsOfStep::trace(Operation *op) {
  const ShardingRule &rule = ruleOf(op);
  if (rule.factors.empty() || op->getNumResults() != 1)
    return;
  const Weights *from = nullptr;
  int64_t number = -1;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    const Weights *weights = find(operand);
    bool isInit = isa<linalg::LinalgOp>(op) && index + 1 == op->getNumOperands();
    if (!weights) {
      if (isa<RankedTensorType>(operand.getType()) && !isInit)
        return;
      continue;
    }
    if (from)
      return;
    from = weights;
    number = index;
  }
  if (!from)
    return;
  Weights moved{from->argument, {}};
  for (DimFactor walked : rule.results[0]) {
    int64_t dim = walked.factor < 0 ? -1 : findDim(rule.operands[number], walked.factor);
    bool isSame = dim >= 0 && rule.operands[number][dim].unit == walked.unit;
    moved.dims.push_back(isSame ? from->dims[dim] : -1);
  }
  weights_[op->getResult(0)] = std::move(moved);
}

int64_t findDim(ArrayRef<DimFactor> dims, int64_t factor) {
  for (auto [dim, walked] : llvm::enumerate(dims))
    if (walked.factor == factor)
      return dim;
  return -1;
}

bool isProduct(Operation *op, const ShardingRule &rule) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumDpsInputs() != 2 || linalgOp.getNumDpsInits() != 1)
    return false;
  return llvm::any_of(llvm::seq<int64_t>(0, rule.factors.size()), [&](int64_t factor) {
    return rule.factors[factor].reduction == ReductionKind::Sum &&
           findDim(rule.operands[0], factor) >= 0 && findDim(rule.operands[1], factor) >= 0;
  });
}

} // namespace mlir::coll
