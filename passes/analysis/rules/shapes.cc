//===- shapes.cc - reshapes, slices, padding, concatenation -----------------------===//

#include "passes/analysis/rules/rules.h"
#include "passes/analysis/window.h"

namespace mlir::coll {

/// The first dimension longer than 1 of each group is the major part of the merged dimension.
ShardingRule reshapeRule(Operation *op, Value expanded, ArrayRef<ReassociationIndices> groups) {
  ShardingRule rule = wholeRule(op);
  bool expandedIsResult = expanded == op->getResult(0);
  auto &wide = expandedIsResult ? rule.results[0] : rule.operands[0];
  auto &narrow = expandedIsResult ? rule.operands[0] : rule.results[0];
  ArrayRef<int64_t> shape = shapeOf(expanded);
  if (llvm::is_contained(shape, 0))
    return rule;
  // MLIR's verifier lets through indices that are none of the shape's.
  for (const ReassociationIndices &group : groups)
    if (llvm::any_of(group, [&](int64_t dim) { return dim < 0 || dim >= int64_t(shape.size()); }))
      return rule;
  for (auto [merged, group] : llvm::enumerate(groups)) {
    int64_t unit = 1;
    int64_t major = -1;
    for (int64_t dim : llvm::reverse(group)) {
      if (shape[dim] == 1)
        continue;
      unit *= major < 0 ? 1 : shape[major];
      major = dim;
    }
    if (major < 0)
      continue;
    int64_t factor = rule.addFactor(shape[major]);
    wide[major] = {factor, 1, {}};
    narrow[merged] = {factor, unit, {}};
  }
  rule.linearSets = {{0}};
  return rule;
}

/// Gives both dimensions one new factor, of which iteration i reads the elements of `operand` that
/// `reach` says.
static void linkShifted(ShardingRule &rule, DimFactor &operand, DimFactor &result, int64_t size,
                        Reach reach) {
  result.factor = operand.factor = rule.addFactor(size);
  operand.reach = reach;
}

static bool isStatic(int64_t size) { return !ShapedType::isDynamic(size); }

ShardingRule extractSliceRule(tensor::ExtractSliceOp op) {
  ShardingRule rule = wholeRule(op);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  ArrayRef<int64_t> source = op.getSourceType().getShape();
  for (int64_t dim = 0, kept = 0; dim < op.getSourceType().getRank(); ++dim) {
    int64_t size = op.getStaticSizes()[dim], stride = op.getStaticStrides()[dim];
    int64_t offset = op.getStaticOffsets()[dim];
    DimFactor &walked = rule.operands[0][dim];
    if (!dropped[dim] && size == source[dim] && stride == 1)
      link(rule, walked, rule.results[0][kept], source[dim]);
    else if (size == 1 && source[dim] > 1 && canBeSummed(op.getType()))
      walked.factor = rule.addIndexedFactor(source[dim], ReductionKind::Sum);
    else if (!dropped[dim] && size > 1 && isStatic(offset) && isStatic(stride))
      linkShifted(rule, walked, rule.results[0][kept], size, {stride, offset, offset, 1});
    kept += !dropped[dim];
  }
  rule.linearSets = {{0}};
  return rule;
}

ShardingRule insertSliceRule(tensor::InsertSliceOp op) {
  ShardingRule rule = wholeRule(op);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  ArrayRef<int64_t> dest = op.getDestType().getShape();
  for (int64_t dim = 0, kept = 0; dim < op.getDestType().getRank(); ++dim) {
    int64_t size = op.getStaticSizes()[dim], stride = op.getStaticStrides()[dim];
    int64_t offset = op.getStaticOffsets()[dim];
    DimFactor &walked = rule.operands[1][dim];
    if (!dropped[dim] && size == dest[dim] && stride == 1)
      link(rule, rule.operands[0][kept], walked, dest[dim]);
    else if (size == 1 && dest[dim] > 1)
      walked.factor = rule.addIndexedFactor(dest[dim]);
    else if (!dropped[dim] && size > 1 && isStatic(offset) && isStatic(stride) &&
             (stride == 1 || getSplat(op.getDest())))
      linkShifted(rule, rule.operands[0][kept], walked, dest[dim], {1, -offset, -offset, stride});
    rule.results[0][dim] = walked;
    kept += !dropped[dim];
  }
  rule.linearSets = {{0, 1}};
  return rule;
}

ShardingRule padRule(tensor::PadOp op) {
  ShardingRule rule = wholeRule(op);
  ArrayRef<int64_t> low = op.getStaticLow(), high = op.getStaticHigh();
  ArrayRef<int64_t> source = op.getSourceType().getShape(), result = op.getType().getShape();
  for (int64_t dim = 0; dim < op.getSourceType().getRank(); ++dim) {
    DimFactor &walked = rule.operands[0][dim];
    if (low[dim] == 0 && high[dim] == 0)
      link(rule, walked, rule.results[0][dim], source[dim]);
    else if (isStatic(low[dim]) && isStatic(high[dim]) && source[dim] > 0 &&
             op.getConstantPaddingValue() && getSplat(op.getConstantPaddingValue()))
      linkShifted(rule, walked, rule.results[0][dim], result[dim], {1, -low[dim], -low[dim], 1});
  }
  return rule;
}

ShardingRule concatRule(tensor::ConcatOp op) {
  ShardingRule rule = wholeRule(op);
  auto along = static_cast<int64_t>(op.getDim());
  SmallVector<int64_t> all;
  for (auto [index, operand] : llvm::enumerate(op.getInputs()))
    all.push_back(index);
  for (int64_t dim = 0; dim < op.getResultType().getRank(); ++dim) {
    rule.results[0][dim].factor = rule.addFactor(op.getResultType().getDimSize(dim));
    int64_t start = 0;
    for (auto [operand, dims] : llvm::zip(op.getInputs(), rule.operands)) {
      dims[dim] = rule.results[0][dim];
      if (dim == along)
        dims[dim].reach = Reach{1, -start, -start, 1};
      start += shapeOf(operand)[dim];
    }
  }
  rule.linearSets = {all};
  return rule;
}

} // namespace mlir::coll
