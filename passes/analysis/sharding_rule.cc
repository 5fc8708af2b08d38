//===- sharding_rule.cc - one rule per kind of operation -------------------------===//

#include "passes/analysis/rules/rules.h"

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/rules/selected_positions.h"
#include "passes/analysis/sharding_map.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::coll {

int64_t ShardingRule::addFactor(int64_t size, std::optional<ReductionKind> reduction) {
  factors.push_back({size, reduction, /*isIndexed=*/false});
  return factors.size() - 1;
}

int64_t ShardingRule::addIndexedFactor(int64_t size, std::optional<ReductionKind> reduction) {
  factors.push_back({size, reduction, /*isIndexed=*/true});
  return factors.size() - 1;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

std::optional<ReductionKind> getCombinerKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<ReductionKind>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return ReductionKind::Sum; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return ReductionKind::Prod; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return ReductionKind::Max; })
      .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return ReductionKind::Min; })
      .Case<arith::MaxUIOp>([](auto) { return ReductionKind::UMax; })
      .Case<arith::MinUIOp>([](auto) { return ReductionKind::UMin; })
      .Case<arith::AndIOp>([](auto) { return ReductionKind::And; })
      .Case<arith::OrIOp>([](auto) { return ReductionKind::Or; })
      .Case<arith::XOrIOp>([](auto) { return ReductionKind::Xor; })
      .Default([](auto) { return std::nullopt; });
}

/// The same combination of single bits. Arithmetic on i1 wraps and takes true for -1, while
/// the runtime adds and compares booleans.
static ReductionKind ofOneBit(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Sum:
    return ReductionKind::Xor;
  case ReductionKind::Prod:
  case ReductionKind::Max:
  case ReductionKind::UMin:
    return ReductionKind::And;
  case ReductionKind::Min:
  case ReductionKind::UMax:
    return ReductionKind::Or;
  default:
    return kind;
  }
}

std::optional<ReductionKind> getReductionKind(Block &block, unsigned accumulator,
                                              unsigned position) {
  BlockArgument argument = block.getArgument(accumulator);
  Operation *combiner = block.getTerminator()->getOperand(position).getDefiningOp();
  if (!combiner || combiner->getBlock() != &block || !argument.hasOneUse() ||
      *argument.user_begin() != combiner || !combiner->getResult(0).hasOneUse())
    return std::nullopt;
  // The runtime knows no i4: as bytes it would combine more bits than there are.
  if (argument.getType().isInteger(4))
    return std::nullopt;
  std::optional<ReductionKind> kind = getCombinerKind(combiner);
  return kind && argument.getType().isInteger(1) ? ofOneBit(*kind) : kind;
}

bool isIdentity(Value value, ReductionKind kind) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  TypedAttr identity = getIdentity(kind, getElementTypeOrSelf(value.getType()));
  Attribute constant;
  if (!identity || !matchPattern(value, m_Constant(&constant)))
    return false;
  if (auto elements = dyn_cast<DenseElementsAttr>(constant)) {
    if (!elements.isSplat())
      return false;
    constant = elements.getSplatValue<Attribute>();
  }
  if (constant == identity)
    return true;
  auto number = dyn_cast<FloatAttr>(constant);
  return kind == ReductionKind::Sum && number && number.getValue().isZero();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

ShardingRule wholeRule(Operation *op) {
  auto whole = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return SmallVector<DimFactor>(type ? type.getRank() : 0);
  };
  ShardingRule rule;
  for (Value operand : op->getOperands())
    rule.operands.push_back(whole(operand));
  for (Value result : op->getResults())
    rule.results.push_back(whole(result));
  return rule;
}

void link(ShardingRule &rule, DimFactor &a, DimFactor &b, int64_t size) {
  a.factor = b.factor = rule.addFactor(size);
}

bool canBeSummed(Type type) {
  Type element = getElementTypeOrSelf(type);
  return !element.isInteger(1) && !element.isInteger(4) && getIdentity(ReductionKind::Sum, element);
}

namespace {

/// Operands that are scalars or tensors of the result's shape.
ShardingRule elementwiseRule(Operation *op) {
  ShardingRule rule = wholeRule(op);
  SmallVector<DimFactor> dims;
  for (int64_t size : shapeOf(op->getResult(0)))
    dims.push_back({rule.addFactor(size), 1, {}});
  rule.results.assign(op->getNumResults(), dims);
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (isa<RankedTensorType>(operand.getType()))
      rule.operands[index] = dims;
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::AddFOp, arith::SubFOp, arith::AddIOp, arith::SubIOp>(
          [&](auto) { rule.linearSets = {{0, 1}}; })
      .Case<arith::MulFOp, arith::MulIOp>([&](auto) { rule.linearSets = {{0}, {1}}; })
      .Case<arith::NegFOp, arith::ExtFOp, arith::DivFOp>([&](auto) { rule.linearSets = {{0}}; })
      // Rounding is not linear. Contributions are rounded only if a pass recorded a partial result.
      .Case<arith::TruncFOp>([&](auto truncation) {
        ShardingAttr result = getRecordedSharding(truncation.getResult());
        if (result && result.isPartial())
          rule.linearSets = {{0}};
      })
      .Case<arith::SelectOp>([&](auto) { rule.linearSets = {{1, 2}}; });
  return rule;
}

/// An operand has leading dimensions of the gradient, all or some of them.
ShardingRule rootUpdateRule(RootUpdateOp op) {
  ShardingRule rule = wholeRule(op);
  SmallVector<DimFactor> dims;
  for (int64_t size : shapeOf(op.getGradients()[0]))
    dims.push_back({rule.addFactor(size), 1, {}});
  for (SmallVector<DimFactor> &operand : rule.operands)
    operand.assign(dims.begin(), dims.begin() + operand.size());
  rule.results.assign(op->getNumResults(), dims);
  return rule;
}

/// Results that no operand determines: every dimension may be split.
ShardingRule freeRule(Operation *op) {
  ShardingRule rule = wholeRule(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getResult(0))))
    rule.results[0][dim].factor = rule.addFactor(size);
  return rule;
}

ShardingRule takeRule(TakeOp op) {
  ShardingRule rule = wholeRule(op);
  ArrayRef<int64_t> operandShape = shapeOf(op.getOperand());
  for (auto [position, dim] : llvm::enumerate(op.getBatchDims()))
    link(rule, rule.operands[1][position], rule.results[0][dim],
         shapeOf(op.getIndices())[position]);
  for (auto [operandDim, indicesDim] :
       llvm::zip(op.getOperandBatchDims(), op.getIndicesBatchDims()))
    rule.operands[0][operandDim] = rule.operands[1][indicesDim];
  for (auto [operandDim, resultDim] : llvm::zip(op.getWindowDims(), op.getOffsetDims()))
    if (op.getSliceSizes()[operandDim] == operandShape[operandDim])
      link(rule, rule.operands[0][operandDim], rule.results[0][resultDim],
           operandShape[operandDim]);
  // A rank takes the elements in its block, and zeros for the others.
  if (canBeSummed(op.getType()))
    for (int64_t dim : op.getIndexMap())
      if (op.getSliceSizes()[dim] == 1 && operandShape[dim] > 1)
        rule.operands[0][dim].factor = rule.addIndexedFactor(operandShape[dim], ReductionKind::Sum);
  rule.linearSets = {{0}};
  return rule;
}

/// How an accumulation combines updates with the operand, if it takes updates unchanged. If it
/// computes something from them first, padding is not neutral and contributions of several ranks
/// are not partial results.
std::optional<ReductionKind> getReductionKind(AccumulateOp op) {
  Block &block = op.getCombiner().front();
  std::optional<ReductionKind> kind = mlir::coll::getReductionKind(block, 0, 0);
  Operation *combiner = block.getTerminator()->getOperand(0).getDefiningOp();
  bool takesUpdate = kind && llvm::is_contained(combiner->getOperands(), block.getArgument(1));
  return takesUpdate ? kind : std::nullopt;
}

/// Updates whose computed positions are near their own are split as the operand is: a rank applies
/// the updates that may belong to its block.
void followSelections(AccumulateOp op, ShardingRule &rule) {
  for (auto [component, dim] : llvm::enumerate(op.getIndexMap())) {
    DimFactor &walked = rule.operands[0][dim];
    std::optional<SelectedPositions> at = findSelectedPositions(op, component);
    if (!at || walked.factor < 0 || !rule.factors[walked.factor].isIndexed)
      continue;
    SmallVector<int64_t> batch = op.getBatchDims();
    DimFactor read{walked.factor, 1, Reach{1, -at->last, -at->first, at->step}};
    rule.operands[1][llvm::find(batch, at->updatesDim) - batch.begin()] = read;
    rule.operands[2][at->updatesDim] = read;
  }
}

ShardingRule accumulateRule(AccumulateOp op) {
  ShardingRule rule = wholeRule(op);
  auto &operand = rule.operands[0], &indices = rule.operands[1], &updates = rule.operands[2];
  std::optional<ReductionKind> kind = getReductionKind(op);
  for (auto [position, dim] : llvm::enumerate(op.getBatchDims())) {
    int64_t size = shapeOf(op.getIndices())[position];
    const auto *batch = llvm::find(op.getIndicesBatchDims(), static_cast<int64_t>(position));
    if (batch != op.getIndicesBatchDims().end()) {
      link(rule, indices[position], updates[dim], size);
      operand[op.getOperandBatchDims()[batch - op.getIndicesBatchDims().begin()]] = updates[dim];
    } else if (kind) {
      indices[position].factor = updates[dim].factor = rule.addFactor(size, kind);
    }
  }
  SmallVector<int64_t> windowDims = op.getOperandWindowDims();
  for (auto [operandDim, updatesDim] : llvm::zip(windowDims, op.getWindowDims())) {
    // An indexed window has to be whole, because it is applied only if all of it lies within the
    // operand.
    bool isIndexed = llvm::is_contained(op.getIndexMap(), operandDim);
    int64_t size = shapeOf(op.getOperand())[operandDim];
    if (!isIndexed && shapeOf(op.getUpdates())[updatesDim] == size)
      link(rule, operand[operandDim], updates[updatesDim], size);
  }
  // A rank applies the updates of its block; updates of one element are inside or outside.
  for (int64_t dim : op.getIndexMap()) {
    const auto *window = llvm::find(windowDims, dim);
    bool isOneElement =
        window == windowDims.end() ||
        shapeOf(op.getUpdates())[op.getWindowDims()[window - windowDims.begin()]] == 1;
    if (isOneElement && shapeOf(op.getOperand())[dim] > 1)
      operand[dim].factor = rule.addIndexedFactor(shapeOf(op.getOperand())[dim]);
  }
  if (kind == ReductionKind::Sum)
    followSelections(op, rule);
  rule.results[0] = operand;
  if (kind)
    rule.initOperand = 0;
  if (kind == ReductionKind::Sum)
    rule.linearSets = {{0, 2}};
  return rule;
}

/// All dimensions but the sorted one.
ShardingRule sortRule(SortOp op) {
  ShardingRule rule = wholeRule(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs()[0]))) {
    if (static_cast<int64_t>(dim) == op.getDimAttr().getInt())
      continue;
    int64_t factor = rule.addFactor(size);
    for (auto &dims : rule.operands)
      dims[dim].factor = factor;
    for (auto &dims : rule.results)
      dims[dim].factor = factor;
  }
  return rule;
}

ShardingRule constantRule(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  return elements && elements.isSplat() ? freeRule(op) : wholeRule(op);
}

} // namespace

ShardingRule getShardingRule(Operation *op) {
  bool tensors = llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (op->getNumResults() == 0 || !tensors)
    return wholeRule(op);
  return llvm::TypeSwitch<Operation *, ShardingRule>(op)
      .Case([](linalg::LinalgOp linalg) { return linalgRule(linalg); })
      .Case([](WindowOp window) { return windowRule(window); })
      .Case([](arith::ConstantOp constant) { return constantRule(constant); })
      .Case([](tensor::ExpandShapeOp reshape) {
        return reshapeRule(reshape, reshape.getResult(), reshape.getReassociationIndices());
      })
      .Case([](tensor::CollapseShapeOp reshape) {
        return reshapeRule(reshape, reshape.getSrc(), reshape.getReassociationIndices());
      })
      .Case([](tensor::ExtractSliceOp slice) { return extractSliceRule(slice); })
      .Case([](tensor::InsertSliceOp slice) { return insertSliceRule(slice); })
      .Case([](tensor::PadOp pad) { return padRule(pad); })
      .Case([](tensor::ConcatOp concat) { return concatRule(concat); })
      .Case([](TakeOp take) { return takeRule(take); })
      .Case([](AccumulateOp accumulate) { return accumulateRule(accumulate); })
      .Case([](SortOp sort) { return sortRule(sort); })
      .Case([](RootUpdateOp update) { return rootUpdateRule(update); })
      .Case<tensor::EmptyOp, tensor::SplatOp>([](Operation *free) { return freeRule(free); })
      .Default([](Operation *other) {
        return OpTrait::hasElementwiseMappableTraits(other) ? elementwiseRule(other)
                                                            : wholeRule(other);
      });
}

} // namespace mlir::coll
