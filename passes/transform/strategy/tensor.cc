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

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/alike_ops.h"
#include "passes/analysis/sharding_map.h"
#include "passes/analysis/sharding_rule.h"
#include "passes/transform/strategy/strategies.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::coll {

namespace {

/// The argument that a value comes from, and which of its dimensions each dimension is, or -1.
struct Origin {
  unsigned argument;
  SmallVector<int64_t> dims;
};

class WeightSplitter {
public:
  WeightSplitter(StepSharding &sharding, StringAttr axis)
      : sharding_(sharding), axis_(axis), ranks_(*sharding.getMesh().getAxisSize(axis.getValue())) {
  }

  void run() {
    func::FuncOp step = sharding_.getStep();
    for (unsigned index = 0; index < sharding_.size(); ++index) {
      if (!sharding_.isState(index) || !sharding_.isTensor(index))
        continue;
      Origin origin{index, {}};
      llvm::append_range(origin.dims, llvm::seq<int64_t>(0, sharding_.getType(index).getRank()));
      origins_[step.getArgument(index)] = origin;
    }
    // Which weights a later product takes has to be known before anything is decided.
    visitBlock(step.getBody().front());
    decides_ = true;
    visitBlock(step.getBody().front());
    SmallVector<int64_t> parameters = findOptimizerState(sharding_);
    for (unsigned index = 0; index < sharding_.size(); ++index)
      if (parameters[index] >= 0)
        follow(index, parameters[index]);
  }

private:
  /// An optimizer's state is split like its parameter.
  void follow(unsigned index, unsigned parameter) {
    for (auto [dim, axes] : llvm::enumerate(sharding_.getDims(parameter)))
      if (llvm::is_contained(axes, axis_))
        sharding_.split(index, dim, axis_);
  }

  void visitBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (isa<scf::ForOp, scf::WhileOp>(op) && isUniformLoop(&op))
        visitLoop(&op);
      else if (op.getNumRegions() == 0 || isa<linalg::LinalgOp>(op))
        visit(&op);
    }
  }

  void visitLoop(Operation *op) {
    unsigned bounds = isa<scf::ForOp>(op) ? 3 : 0, skipped = isa<scf::ForOp>(op) ? 1 : 0;
    auto hand = [&](Value from, Value to) {
      if (auto origin = origins_.find(from); origin != origins_.end())
        origins_[to] = Origin(origin->second);
      if (auto split = splits_.find(from); split != splits_.end())
        splits_[to] = int64_t(split->second);
    };
    for (Region &region : op->getRegions()) {
      for (auto [index, init] : llvm::enumerate(op->getOperands().drop_front(bounds)))
        hand(init, region.getArgument(index + skipped));
      visitBlock(region.front());
    }
    Operation *yield = op->getRegions().back().front().getTerminator();
    for (auto [value, result] : llvm::zip(yield->getOperands(), op->getResults()))
      hand(value, result);
  }

  /// Weights are not split where each step would exchange parts of them. Kept, since the search for
  /// a second product passes most operations many times.
  const ShardingRule &ruleOf(Operation *op) {
    const AlikeOps::Kind &kind = alike_.kindOf(op);
    std::unique_ptr<ShardingRule> &rule = rules_[kind.number];
    if (rule)
      return *rule;
    rule = std::make_unique<ShardingRule>(kind.rule);
    for (auto &dims : rule->operands)
      for (DimFactor &dim : dims)
        dim = dim.reach ? DimFactor() : dim;
    return *rule;
  }

  /// The dimension of operand `index` that walks `factor`, or -1.
  static int64_t findDim(ArrayRef<DimFactor> dims, int64_t factor) {
    for (auto [dim, walked] : llvm::enumerate(dims))
      if (walked.factor == factor)
        return dim;
    return -1;
  }

  void visit(Operation *op) {
    const ShardingRule &rule = ruleOf(op);
    if (rule.factors.empty())
      return;
    if (!decides_)
      return trace(op, rule);
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
      auto origin = origins_.find(operand);
      if (origin == origins_.end())
        continue;
      for (auto [dim, walked] : llvm::enumerate(rule.operands[index]))
        if (walked.factor >= 0 && isSplit(origin->second, dim))
          return walked.factor;
    }
    return -1;
  }

  bool isSplit(const Origin &origin, size_t dim) {
    int64_t of = origin.dims[dim];
    return of >= 0 && llvm::is_contained(sharding_.getDims(origin.argument)[of], axis_);
  }

  bool isDecided(const Origin &origin) {
    return llvm::any_of(sharding_.getDims(origin.argument),
                        [&](ArrayRef<StringAttr> axes) { return llvm::is_contained(axes, axis_); });
  }

  /// A sum over products of two tensors, with a loop that only they have.
  static bool isProduct(Operation *op, const ShardingRule &rule) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || linalgOp.getNumDpsInputs() != 2 || linalgOp.getNumDpsInits() != 1)
      return false;
    return llvm::any_of(llvm::seq<int64_t>(0, rule.factors.size()), [&](int64_t factor) {
      return rule.factors[factor].reduction == ReductionKind::Sum &&
             findDim(rule.operands[0], factor) >= 0 && findDim(rule.operands[1], factor) >= 0;
    });
  }

  /// Decides about the weights of a product; returns the factor that is split.
  int64_t splitProduct(Operation *op, const ShardingRule &rule, int64_t split) {
    for (unsigned index : {0u, 1u}) {
      auto origin = origins_.find(op->getOperand(index));
      bool isWeight = origin != origins_.end() && !origins_.contains(op->getOperand(1 - index));
      if (!isWeight || isDecided(origin->second))
        continue;
      int64_t dim = split >= 0 ? findDim(rule.operands[index], split)
                               : findColumn(op, rule, index, origin->second);
      if (dim < 0 || origin->second.dims[dim] < 0)
        continue;
      sharding_.split(origin->second.argument, origin->second.dims[dim], axis_);
      if (isDecided(origin->second))
        return rule.operands[index][dim].factor;
    }
    return split;
  }

  /// The longest dimension of weights that only they and the result have, and that the axis
  /// divides; or -1.
  int64_t findColumn(Operation *op, const ShardingRule &rule, unsigned index,
                     const Origin &origin) {
    int64_t best = -1, longest = 0, rows = 1;
    for (DimFactor walked : rule.operands[index])
      if (walked.factor >= 0 && rule.factors[walked.factor].reduction)
        rows *= rule.factors[walked.factor].size;
    for (auto [dim, walked] : llvm::enumerate(rule.operands[index])) {
      if (walked.factor < 0 || walked.unit != 1 || origin.dims[dim] < 0 ||
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
        longest > kManyColumns * rows || meetsWeights(op->getResult(0), dim, origin.argument);
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
        const ShardingRule &rule = ruleOf(op);
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
        auto origin = origins_.find(op->getOperand(1 - number));
        found |= origin != origins_.end() && origin->second.argument != weights;
      }
    }
    return found;
  }

  /// What is added to or scales a split value, such as a bias, is split with it.
  void splitVectors(Operation *op, const ShardingRule &rule, int64_t split) {
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      auto origin = origins_.find(operand);
      if (origin == origins_.end() || isDecided(origin->second) ||
          sharding_.getType(origin->second.argument).getRank() != 1)
        continue;
      int64_t dim = findDim(rule.operands[index], split);
      if (dim >= 0 && origin->second.dims[dim] >= 0)
        sharding_.split(origin->second.argument, origin->second.dims[dim], axis_);
    }
  }

  /// Follows weights through operations that only move or convert them.
  void trace(Operation *op, const ShardingRule &rule) {
    const Origin *from = nullptr;
    int64_t number = -1;
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      auto origin = origins_.find(operand);
      bool isInit = isa<linalg::LinalgOp>(op) && index + 1 == op->getNumOperands();
      if (origin == origins_.end()) {
        if (isa<RankedTensorType>(operand.getType()) && !isInit)
          return;
        continue;
      }
      if (from)
        return;
      from = &origin->second;
      number = index;
    }
    if (!from || op->getNumResults() != 1)
      return;
    Origin origin{from->argument, {}};
    for (DimFactor walked : rule.results[0]) {
      int64_t dim = walked.factor < 0 ? -1 : findDim(rule.operands[number], walked.factor);
      bool isSame = dim >= 0 && rule.operands[number][dim].unit == walked.unit;
      origin.dims.push_back(isSame ? from->dims[dim] : -1);
    }
    origins_[op->getResult(0)] = std::move(origin);
  }

  /// As many times more columns than rows are worth a split without a second product.
  static constexpr int64_t kManyColumns = 4;
  /// Values that are followed in the search for a second product.
  static constexpr size_t kMaxFollowed = 1024;

  StepSharding &sharding_;
  StringAttr axis_;
  int64_t ranks_;
  bool decides_ = false;
  llvm::DenseMap<Value, Origin> origins_;
  llvm::DenseMap<Value, int64_t> splits_;
  AlikeOps alike_;
  llvm::DenseMap<unsigned, std::unique_ptr<ShardingRule>> rules_; // by kind
};

} // namespace

void splitWeights(StepSharding &sharding, StringAttr axis) { WeightSplitter(sharding, axis).run(); }

} // namespace mlir::coll
