//===- linalg.cc - loops over dimensions, and sliding windows ---------------------===//

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/analysis/rules/rules.h"
#include "passes/analysis/window.h"

namespace mlir::coll {

namespace {

/// How a loop walks a dimension: iteration i accesses step * i + first to step * i + last.
struct Walk {
  int64_t loop = -1, step = 1, first = 0, last = 0;
};

/// Which loop walks a dimension, and which loops may be split. If several loops walk one dimension,
/// such as those of a window and of its positions, only the longest may be split.
class LoopWalks {
public:
  explicit LoopWalks(linalg::LinalgOp op)
      : ranges_(op.getStaticLoopRanges()), splittable_(op.getNumLoops(), true) {
    for (OpOperand &operand : op->getOpOperands())
      visit(op.getMatchingIndexingMap(&operand), op.isDpsInput(&operand));
  }

  bool isSplittable(unsigned loop) const { return splittable_[loop]; }

  /// loop -1 if `expr` is not a sum of non-negative multiples of loops.
  Walk get(AffineExpr expr) const {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return {dim.getPosition()};
    SmallVector<int64_t> terms;
    unsigned count = ranges_.size();
    if (failed(getFlattenedAffineExpr(expr, count, 0, &terms)) || terms.size() != count + 1 ||
        llvm::any_of(terms, [](int64_t term) { return term < 0; }))
      return {};
    Walk walk{-1, 1, terms.back(), terms.back()};
    for (unsigned loop = 0; loop < count; ++loop)
      if (terms[loop] > 0 && (walk.loop < 0 || ranges_[loop] > ranges_[walk.loop]))
        walk.loop = loop;
    for (unsigned loop = 0; loop < count; ++loop)
      if (static_cast<int64_t>(loop) != walk.loop)
        walk.last += terms[loop] * (ranges_[loop] - 1);
    if (walk.loop >= 0)
      walk.step = terms[walk.loop];
    return walk;
  }

private:
  /// A loop may be split if it walks at most one dimension of each tensor, and is the only loop in
  /// a result's dimension.
  void visit(AffineMap map, bool isInput) {
    SmallVector<bool> seen(ranges_.size(), false);
    for (AffineExpr expr : map.getResults()) {
      Walk walk = get(expr);
      for (unsigned loop = 0; loop < ranges_.size(); ++loop) {
        if (!expr.isFunctionOfDim(loop))
          continue;
        bool walks = walk.loop == static_cast<int64_t>(loop);
        splittable_[loop] =
            splittable_[loop] && walks && !seen[loop] && (isInput || isa<AffineDimExpr>(expr));
        seen[loop] = true;
      }
    }
  }

  SmallVector<int64_t> ranges_;
  SmallVector<bool> splittable_;
};

/// Looks through widening conversions.
Value stripExtension(Value value) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    return extension.getIn();
  return value;
}

/// Inputs in which a sum over products, a plain sum or a copy is linear.
SmallVector<SmallVector<int64_t>> getLinearSets(linalg::LinalgOp op, bool reduces) {
  SmallVector<SmallVector<int64_t>> sets;
  if (op.getNumDpsInits() != 1)
    return sets;
  int64_t init = op.getNumDpsInputs();
  auto add = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(stripExtension(value));
    if (!argument || argument.getArgNumber() >= init || !argument.hasOneUse())
      return;
    SmallVector<int64_t> set = {static_cast<int64_t>(argument.getArgNumber())};
    if (reduces)
      set.push_back(init);
    sets.push_back(set);
  };
  Block *body = op.getBlock();
  Value yielded = body->getTerminator()->getOperand(0);
  if (!reduces) {
    add(yielded);
    return sets;
  }
  Operation *sum = yielded.getDefiningOp();
  Value term = sum->getOperand(sum->getOperand(0) == body->getArgument(init) ? 1 : 0);
  if (auto product = term.getDefiningOp<arith::MulFOp>()) {
    add(product.getLhs());
    add(product.getRhs());
  } else {
    add(term);
  }
  return sets;
}

/// Whether a result has a dimension for the loop, so that no elements of it are combined over it.
bool walksResult(linalg::LinalgOp op, unsigned loop) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return op.getMatchingIndexingMap(&init).isFunctionOfDim(loop);
  });
}

} // namespace

ShardingRule linalgRule(linalg::LinalgOp op) {
  ShardingRule rule = wholeRule(op);
  LoopWalks walks(op);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  bool reduces = llvm::is_contained(iterators, utils::IteratorType::reduction);
  std::optional<ReductionKind> kind;
  if (reduces && op.getNumDpsInits() == 1)
    kind = getReductionKind(*op.getBlock(), op.getNumDpsInputs(), 0);

  SmallVector<int64_t> factorOfLoop(op.getNumLoops(), -1);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!walks.isSplittable(loop))
      continue;
    bool parallel = iterators[loop] == utils::IteratorType::parallel;
    if (parallel)
      factorOfLoop[loop] = rule.addFactor(ranges[loop]);
    else if (kind && !walksResult(op, loop))
      factorOfLoop[loop] = rule.addFactor(ranges[loop], kind);
  }
  auto fill = [&](AffineMap map, SmallVector<DimFactor> &dims) {
    for (auto [dim, expr] : llvm::zip(dims, map.getResults())) {
      Walk walk = walks.get(expr);
      dim.factor = walk.loop < 0 ? -1 : factorOfLoop[walk.loop];
      if (dim.factor >= 0 && !isa<AffineDimExpr>(expr))
        dim.reach = Reach{walk.step, walk.first, walk.last, 1};
    }
  };
  for (OpOperand &operand : op->getOpOperands())
    fill(op.getMatchingIndexingMap(&operand), rule.operands[operand.getOperandNumber()]);
  for (OpResult result : op->getResults())
    fill(op.getIndexingMapMatchingResult(result), rule.results[result.getResultNumber()]);
  if (kind)
    rule.initOperand = op.getNumDpsInputs();
  if (!reduces || kind == ReductionKind::Sum)
    rule.linearSets = getLinearSets(op, reduces);
  return rule;
}

ShardingRule windowRule(WindowOp op) {
  Operation *core = op.getCore();
  auto concat = dyn_cast<tensor::ConcatOp>(core);
  bool isKnown = concat || isa<linalg::LinalgOp>(core);
  if (!isKnown || core->getNumOperands() != op->getNumOperands())
    return wholeRule(op);
  ShardingRule rule = concat ? concatRule(concat) : linalgRule(cast<linalg::LinalgOp>(core));
  for (OpOperand &operand : core->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    PaddedInput padded = tracePadding(operand.get());
    if (padded.source != op.getBody().getArgument(number))
      return wholeRule(op);
    for (auto [dim, walked] : llvm::enumerate(rule.operands[number])) {
      bool isPadded = padded.low[dim] != 0 || padded.high[dim] != 0 || padded.interior[dim] != 0;
      if (walked.factor < 0 || !isPadded)
        continue;
      Reach reach = walked.reach.value_or(Reach{});
      walked.reach = Reach{reach.step, reach.first - padded.low[dim], reach.last - padded.low[dim],
                           padded.interior[dim] + 1};
    }
  }
  return rule;
}

} // namespace mlir::coll
