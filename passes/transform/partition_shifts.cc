//===- partition_shifts.cc - windows, slices, padding and concatenation over blocks ---===//
//
// First an operand is replaced by the buffer of the elements that this rank reads
// (partition_halo.cc). Along such a dimension the operation then starts at the buffer's first
// element:
//
//   slice x[2:14:2]     buffer = what this rank's part of the result reads, buffer[0::2]
//   pad low 1 high 1    buffer = blocks with padding at the outer ranks
//   insert y at 3       buffer = elements of y at their places, the destination elsewhere
//
//===----------------------------------------------------------------------------===//

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/analysis/window.h"
#include "passes/transform/partition.h"

namespace mlir::coll {

namespace plan = ::coll::plan;

namespace {

bool isExchanged(const DimFactor &walked, const Assignment &assignment) {
  return walked.reach && walked.factor >= 0 && assignment.factors[walked.factor];
}

/// The element that fills the space around the elements of an operand that `op` moves; null if its
/// results contain no other elements. Updates at index -1 are dropped.
TypedAttr fillOf(Operation *op, int64_t operand = 0) {
  if (isa<AccumulateOp>(op)) {
    Type element = getElementTypeOrSelf(op->getOperand(operand).getType());
    Builder builder(op->getContext());
    return operand == 1 ? builder.getIntegerAttr(element, -1) : builder.getZeroAttr(element);
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return getSplat(pad.getConstantPaddingValue());
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return getSplat(insert.getDest());
  return nullptr;
}

/// Padding, cutting and spreading along the dimensions that no neighbour has a part of.
Value padWithin(OpBuilder &builder, Location loc, Value value, const PaddedInput &padded) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  auto attrs = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  SmallVector<int64_t> zeros(rank, 0), ones(rank, 1), spread(type.getShape()), strides, offsets,
      sizes, low, high;
  for (int64_t dim = 0; dim < rank; ++dim) {
    strides.push_back(padded.interior[dim] + 1);
    spread[dim] = (spread[dim] - 1) * strides[dim] + 1;
    offsets.push_back(std::max<int64_t>(-padded.low[dim], 0));
    sizes.push_back(spread[dim] + std::min<int64_t>(padded.low[dim], 0) +
                    std::min<int64_t>(padded.high[dim], 0));
    low.push_back(std::max<int64_t>(padded.low[dim], 0));
    high.push_back(std::max<int64_t>(padded.high[dim], 0));
  }
  if (ArrayRef<int64_t>(spread) != type.getShape()) {
    auto filled = DenseElementsAttr::get(type.clone(spread), padded.fill);
    Value fill = arith::ConstantOp::create(builder, loc, filled);
    value = tensor::InsertSliceOp::create(builder, loc, value, fill, attrs(zeros),
                                          attrs(type.getShape()), attrs(strides));
  }
  if (sizes != spread)
    value = tensor::ExtractSliceOp::create(builder, loc, value, attrs(offsets), attrs(sizes),
                                           attrs(ones));
  if (low == zeros && high == zeros)
    return value;
  for (auto [size, before, after] : llvm::zip(sizes, low, high))
    size += before + after;
  Value fill = arith::ConstantOp::create(builder, loc, padded.fill);
  return tensor::PadOp::create(builder, loc, type.clone(sizes), value, attrs(low), attrs(high),
                               fill);
}

} // namespace

/// Maps the operands of `op` to the elements that this rank reads of them, if these are more than
/// its blocks.
void FunctionPartitioner::readBeyondBlocks(Operation *op, const ShardingRule &rule,
                                           const Assignment &assignment) {
  if (auto window = dyn_cast<WindowOp>(op))
    return enterWindow(window, rule, assignment);
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto isHalo = [&](const DimFactor &walked) { return isExchanged(walked, assignment); };
    if (llvm::any_of(rule.operands[index], isHalo))
      mapping_.map(operand, exchangeHalos(op, rule, assignment, index, fillOf(op, index)));
  }
}

/// Maps the operands of the operation in `op`.
void FunctionPartitioner::enterWindow(WindowOp op, const ShardingRule &rule,
                                      const Assignment &assignment) {
  Operation *core = op.getCore();
  for (Operation &nested : op.getBody().front())
    if (matchPattern(&nested, m_Constant()))
      builder_.clone(nested, mapping_);
  for (auto [index, operand] : llvm::enumerate(core->getOperands())) {
    PaddedInput padded = tracePadding(operand);
    Value local = exchangeHalos(op, rule, assignment, index, padded.fill);
    for (auto [dim, walked] : llvm::enumerate(rule.operands[index]))
      if (isExchanged(walked, assignment))
        padded.low[dim] = padded.high[dim] = padded.interior[dim] = 0;
    mapping_.map(operand, padWithin(builder_, op.getLoc(), local, padded));
  }
}

/// Makes `local` start at the first element of the buffers that its operands are.
void FunctionPartitioner::shiftWithinBlocks(Operation *global, Operation *local,
                                            const ShardingRule &rule,
                                            const Assignment &assignment) {
  auto change = [&](ArrayRef<DimFactor> dims, ArrayRef<int64_t> values, auto valueOf) {
    SmallVector<int64_t> changed(values);
    for (auto [dim, walked] : llvm::enumerate(dims))
      if (isExchanged(walked, assignment))
        changed[dim] = valueOf(dim);
    return changed;
  };
  auto zero = [](int64_t) { return int64_t{0}; };
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(local)) {
    ArrayRef<DimFactor> dims = rule.operands[0];
    auto iterations = [&](int64_t dim) {
      int64_t factor = dims[dim].factor;
      return getBlockExtent(mesh_, assignment.factors[factor], rule.factors[factor].size);
    };
    slice.setStaticOffsets(change(dims, slice.getStaticOffsets(), zero));
    slice.setStaticSizes(change(dims, slice.getStaticSizes(), iterations));
  } else if (auto pad = dyn_cast<tensor::PadOp>(local)) {
    pad.setStaticLow(change(rule.operands[0], pad.getStaticLow(), zero));
    pad.setStaticHigh(change(rule.operands[0], pad.getStaticHigh(), zero));
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(local)) {
    keepOutside(cast<tensor::InsertSliceOp>(global), insert, rule, assignment);
  }
}

/// Along exchanged dimensions the source holds all of this rank's block; outside of the global
/// source, what the destination holds.
void FunctionPartitioner::keepOutside(tensor::InsertSliceOp global, tensor::InsertSliceOp local,
                                      const ShardingRule &rule, const Assignment &assignment) {
  llvm::SmallBitVector dropped = global.getDroppedDims();
  SmallVector<int64_t> offsets(local.getStaticOffsets()), sizes(local.getStaticSizes()),
      strides(local.getStaticStrides());
  for (int64_t dim = 0, kept = 0; dim < local.getDestType().getRank(); ++dim) {
    if (dropped[dim])
      continue;
    if (isExchanged(rule.operands[0][kept], assignment)) {
      offsets[dim] = 0;
      strides[dim] = 1;
      sizes[dim] = local.getDestType().getDimSize(dim);
    }
    ++kept;
  }
  local.setStaticOffsets(offsets);
  local.setStaticSizes(sizes);
  local.setStaticStrides(strides);
  if (fillOf(global))
    return;
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPoint(local);
  // Positions along other split dimensions count within the block, as in insertHeld().
  SmallVector<OpFoldResult> place = local.getMixedOffsets();
  (void)localOffsets(local.getLoc(), rule.operands[1], rule, assignment, place);
  for (auto [dim, walked] : llvm::enumerate(rule.operands[0])) {
    if (!isExchanged(walked, assignment))
      continue;
    Value old = tensor::ExtractSliceOp::create(builder_, local.getLoc(), local.getSourceType(),
                                               local.getDest(), place, local.getMixedSizes(),
                                               local.getMixedStrides());
    Halo halo = planHalo(global, rule, assignment, walked.factor, dim);
    plan::HaloSource source = haloSource(halo, global.getSource(), *walked.reach);
    local.getSourceMutable().assign(fillOutside(halo, local.getSource(), source, old));
  }
}

/// A concatenation along a split dimension, perhaps of slices; false if it works along another
/// one.
bool FunctionPartitioner::partitionConcat(Operation *op, const ShardingRule &rule,
                                          const Assignment &assignment) {
  auto concat = cast<tensor::ConcatOp>(getCore(op));
  int64_t dim = concat.getDim();
  const DimFactor &walked = rule.results[0][dim];
  if (walked.factor < 0 || !assignment.factors[walked.factor])
    return false;
  Halo halo = planHalo(op, rule, assignment, walked.factor, dim);
  SmallVector<Value> locals;
  std::vector<plan::HaloSource> sources;
  llvm::SmallDenseMap<Value, int64_t> bases;
  int64_t held = 0;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    plan::HaloSource source = haloSource(halo, operand, *rule.operands[index][dim].reach);
    if (isa<WindowOp>(op)) {
      PaddedInput cut = tracePadding(concat.getInputs()[index]);
      source.begin = -cut.low[dim];
      source.extent += cut.high[dim];
    }
    Value local = mapping_.lookup(operand);
    auto [base, isNew] = bases.try_emplace(local, held);
    source.base = base->second;
    if (isNew) {
      locals.push_back(local);
      held += source.block;
    }
    sources.push_back(source);
  }
  halo.plan = plan::planHalo(halo.loop, sources);
  Value result;
  if (!halo.plan.gathers) {
    result = fillBuffer(halo, locals);
  } else {
    for (auto [operand, source] : llvm::zip(op->getOperands(), sources)) {
      Value joined = gatherHalo(halo, mapping_.lookup(operand), source);
      result = result ? fillOutside(halo, joined, source, result) : joined;
    }
  }
  mapping_.map(op->getResult(0), result);
  return true;
}

} // namespace mlir::coll
