//===- partition_ops.cc - operations that a sharding rule describes --------------===//

#include "dialect/notes.h"
#include "dialect/shape.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/analysis/window.h"
#include "passes/transform/partition.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::coll {

namespace {

/// The input itself, perhaps widened.
bool isPlainInput(Value value) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    value = extension.getIn();
  return isa<BlockArgument>(value);
}

/// Sums of products of two inputs: padding in one would be multiplied by whatever the other holds
/// there; zeros in both add nothing.
bool isSumOfProducts(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumDpsInputs() != 2)
    return false;
  Block *body = op.getBlock();
  auto sum = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  auto product = sum.getLhs().getDefiningOp<arith::MulFOp>();
  if (!product)
    product = sum.getRhs().getDefiningOp<arith::MulFOp>();
  return product && isPlainInput(product.getLhs()) && isPlainInput(product.getRhs());
}

bool isSplitUnevenly(MeshOp mesh, const Factor &factor, DimShardingAttr split) {
  return split && factor.reduction && isUneven(mesh, split, factor.size);
}

/// Whether zeros in the inputs' padding suffice to keep padding out of a sum of products. Both
/// inputs have to walk the loop, since zero times an infinity of the other input is not zero.
bool isKeptOutByZeros(MeshOp mesh, linalg::LinalgOp op, const ShardingRule &rule,
                      const Assignment &assignment) {
  if (!isSumOfProducts(op))
    return false;
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    auto walks = [&, index = static_cast<int64_t>(index)](DimFactor dim) {
      return dim.factor == index && !dim.reach;
    };
    if (isSplitUnevenly(mesh, factor, assignment.factors[index]) &&
        !(llvm::any_of(rule.operands[0], walks) && llvm::any_of(rule.operands[1], walks)))
      return false;
  }
  return true;
}

} // namespace

const Assignment &FunctionPartitioner::assignmentOf(Operation *op) {
  const OpKinds::Kind &kind = kinds_.kindOf(op);
  SmallVector<ShardingAttr> results = getResultShardings(op);
  SmallVector<ShardingAttr> operands =
      llvm::map_to_vector(op->getOperands(), [](Value v) { return getRecordedSharding(v); });
  std::optional<Assignment> &known = assignments_.at(kind.number, {results, operands});
  if (!known) {
    known.emplace();
    if (!kind.rule.factors.empty())
      known = assignFromResults(op, kind.rule, results, operands);
  }
  return *known;
}

LogicalResult FunctionPartitioner::partitionByRule(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (elements && elements.isSplat()) {
      auto type = cast<ShapedType>(localTypeOf(constant));
      auto value = elements.resizeSplat(type);
      mapping_.map(op->getResult(0),
                   arith::ConstantOp::create(builder_, op->getLoc(), value).getResult());
      return success();
    }
  }
  const ShardingRule &rule = kinds_.kindOf(op).rule;
  const Assignment &assignment = assignmentOf(op);
  if (assignment.unexplained)
    return op->emitError() << "cannot have a partial result: no operand is partial, and no loop is "
                              "split over the partial axes; leave them out of its sharding";
  if (isa<tensor::ConcatOp>(getCore(op)) && partitionConcat(op, rule, assignment))
    return success();
  // Only this operation may use the changed operands: it may stand inside a loop.
  SmallVector<Value> unchanged = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return mapping_.lookupOrNull(operand); });
  readBeyondBlocks(op, rule, assignment);
  Operation *core = getCore(op);
  if (failed(maskPadding(core, rule, assignment)))
    return failure();
  localizeIndices(op, rule, assignment);

  Operation *local = builder_.clone(*core, mapping_);
  // Updates that are changed may be the same value as what they are combined with.
  if (auto accumulate = dyn_cast<AccumulateOp>(local)) {
    OpOperand &operand = accumulate.getOperandMutable();
    operand.set(unchanged[operand.getOperandNumber()]);
  }
  for (auto [operand, value] : llvm::zip(op->getOperands(), unchanged))
    if (value)
      mapping_.map(operand, value);
  local->removeAttr(kShardingsAttr);
  local->removeAttr(kDecisionAttr);
  for (auto [from, to] : llvm::zip(op->getResults(), local->getResults())) {
    to.setType(localTypeOf(from));
    mapping_.map(from, to);
  }
  fixStaticSizes(op, local);
  shiftWithinBlocks(op, local, rule, assignment);
  finishLocal(op, local, rule, assignment);
  return success();
}

/// The code that an operation on blocks needs after it, or in its body.
void FunctionPartitioner::finishLocal(Operation *op, Operation *local, const ShardingRule &rule,
                                      const Assignment &assignment) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(getCore(op))) {
    offsetIndices(linalgOp, cast<linalg::LinalgOp>(local), rule, assignment);
    if (!isKeptOutByZeros(mesh_, linalgOp, rule, assignment))
      maskBody(linalgOp, cast<linalg::LinalgOp>(local), rule, assignment);
  }
  if (auto take = dyn_cast<TakeOp>(op))
    mapping_.map(op->getResult(0),
                 maskTaken(take, local->getResult(0), local->getOperand(1), rule, assignment));
  else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(local))
    mapping_.map(op->getResult(0), sliceHeld(slice, rule, assignment));
  else if (auto insert = dyn_cast<tensor::InsertSliceOp>(local))
    mapping_.map(op->getResult(0), insertHeld(insert, rule, assignment));
}

/// Positions in split dimensions count within the rank's block.
void FunctionPartitioner::localizeIndices(Operation *op, const ShardingRule &rule,
                                          const Assignment &assignment) {
  auto localize = [&](Value indices, ArrayRef<int64_t> indexMap, bool clamps) {
    mapping_.map(indices, localIndices(op->getLoc(), mapping_.lookup(indices), indexMap, rule,
                                       assignment, clamps));
  };
  if (auto take = dyn_cast<TakeOp>(op))
    localize(take.getIndices(), take.getIndexMap(), /*clamps=*/true);
  else if (auto accumulate = dyn_cast<AccumulateOp>(op))
    localize(accumulate.getIndices(), accumulate.getIndexMap(), /*clamps=*/false);
}

/// Attributes that repeat a shape follow the local one.
void FunctionPartitioner::fixStaticSizes(Operation *global, Operation *local) {
  auto follow = [](ArrayRef<int64_t> sizes, ArrayRef<int64_t> globalShape,
                   ArrayRef<int64_t> localShape) {
    SmallVector<int64_t> fixed(sizes);
    for (auto [size, whole, part] : llvm::zip(fixed, globalShape, localShape))
      size = size == whole ? part : size;
    return fixed;
  };
  llvm::TypeSwitch<Operation *>(local)
      .Case([&](tensor::ExpandShapeOp op) { op.setStaticOutputShape(op.getType().getShape()); })
      .Case([&](tensor::ExtractSliceOp op) {
        op.setStaticSizes(follow(op.getStaticSizes(), shapeOf(global->getOperand(0)),
                                 op.getSourceType().getShape()));
      })
      .Case([&](tensor::InsertSliceOp op) {
        op.setStaticSizes(follow(op.getStaticSizes(), shapeOf(global->getOperand(1)),
                                 op.getDestType().getShape()));
      })
      .Case([&](TakeOp op) {
        auto sizes = llvm::to_vector(op.getSliceSizes());
        for (int64_t dim : op.getWindowDims())
          if (sizes[dim] == shapeOf(global->getOperand(0))[dim])
            sizes[dim] = shapeOf(op.getOperand())[dim];
        op.setSliceSizes(sizes);
      });
}

/// linalg.index over a split loop counts within the rank's block: add its offset.
void FunctionPartitioner::offsetIndices(linalg::LinalgOp global, linalg::LinalgOp local,
                                        const ShardingRule &rule, const Assignment &assignment) {
  SmallVector<linalg::IndexOp> indices;
  local->walk([&](linalg::IndexOp index) { indices.push_back(index); });
  if (indices.empty())
    return;
  llvm::DenseMap<int64_t, Value> offsets;
  // A loop's factor is that of any dimension that walks it.
  auto offsetOf = [&](int64_t loop) -> Value {
    for (OpOperand &operand : global->getOpOperands()) {
      AffineMap map = global.getMatchingIndexingMap(&operand);
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        auto walked = dyn_cast<AffineDimExpr>(expr);
        if (!walked || static_cast<int64_t>(walked.getPosition()) != loop)
          continue;
        int64_t factor = rule.operands[operand.getOperandNumber()][dim].factor;
        if (factor >= 0 && assignment.factors[factor])
          return blockOffset(global.getLoc(), assignment.factors[factor],
                             rule.factors[factor].size);
      }
    }
    return nullptr;
  };
  OpBuilder::InsertionGuard guard(builder_);
  for (linalg::IndexOp index : indices) {
    auto [entry, isNew] = offsets.try_emplace(index.getDim());
    if (isNew) {
      builder_.setInsertionPoint(local);
      entry->second = offsetOf(index.getDim());
    }
    if (!entry->second)
      continue;
    builder_.setInsertionPointAfter(index);
    auto sum = arith::AddIOp::create(builder_, index.getLoc(), index.getResult(), entry->second);
    index.getResult().replaceAllUsesExcept(sum.getResult(), sum);
  }
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Masks operands before `op` where padding would be combined with elements.
LogicalResult FunctionPartitioner::maskPadding(Operation *op, const ShardingRule &rule,
                                               const Assignment &assignment) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (linalgOp && isKeptOutByZeros(mesh_, linalgOp, rule, assignment))
    maskInputs(linalgOp, rule, assignment);
  auto accumulate = dyn_cast<AccumulateOp>(op);
  if (!accumulate)
    return success();
  Value updates = mapping_.lookup(accumulate.getUpdates());
  for (auto [dim, walked] : llvm::enumerate(rule.operands[2])) {
    if (walked.factor < 0)
      continue;
    const Factor &factor = rule.factors[walked.factor];
    DimShardingAttr split = assignment.factors[walked.factor];
    if (!isSplitUnevenly(mesh_, factor, split))
      continue;
    Type element = getElementTypeOrSelf(updates.getType());
    TypedAttr identity = getIdentity(*factor.reduction, element);
    if (!identity)
      return op->emitError() << "cannot be split unevenly: "
                             << stringifyReductionKind(*factor.reduction)
                             << " has no neutral element of type " << element;
    updates = maskDim(op->getLoc(), updates, dim, split, factor.size, identity);
  }
  mapping_.map(accumulate.getUpdates(), updates);
  return success();
}

void FunctionPartitioner::maskInputs(linalg::LinalgOp op, const ShardingRule &rule,
                                     const Assignment &assignment) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value local = mapping_.lookup(input->get());
    auto zero = cast<TypedAttr>(builder_.getZeroAttr(getElementTypeOrSelf(local.getType())));
    for (auto [dim, walked] : llvm::enumerate(rule.operands[input->getOperandNumber()])) {
      if (walked.factor < 0 || walked.reach)
        continue;
      DimShardingAttr split = assignment.factors[walked.factor];
      if (isSplitUnevenly(mesh_, rule.factors[walked.factor], split))
        local = maskDim(op.getLoc(), local, dim, split, rule.factors[walked.factor].size, zero);
    }
    mapping_.map(input->get(), local);
  }
}

/// Other reductions keep the old value in iterations that see padding.
void FunctionPartitioner::maskBody(linalg::LinalgOp global, linalg::LinalgOp local,
                                   const ShardingRule &rule, const Assignment &assignment) {
  OpBuilder::InsertionGuard guard(builder_);
  Block *body = local.getBlock();
  Location loc = local.getLoc();
  llvm::SmallDenseSet<int64_t> done;
  for (OpOperand *input : global.getDpsInputOperands()) {
    for (auto [dim, walked] : llvm::enumerate(rule.operands[input->getOperandNumber()])) {
      if (walked.factor < 0 || walked.reach)
        continue;
      const Factor &factor = rule.factors[walked.factor];
      DimShardingAttr split = assignment.factors[walked.factor];
      if (!isSplitUnevenly(mesh_, factor, split) || !done.insert(walked.factor).second)
        continue;
      AffineMap map = global.getMatchingIndexingMap(input);
      unsigned loop = cast<AffineDimExpr>(map.getResult(dim)).getPosition();
      builder_.setInsertionPoint(local);
      Value offset = blockOffset(loc, split, factor.size);
      Value extent = arith::ConstantIndexOp::create(builder_, loc, factor.size);
      builder_.setInsertionPoint(body->getTerminator());
      Value index = linalg::IndexOp::create(builder_, loc, loop);
      Value position = arith::AddIOp::create(builder_, loc, index, offset);
      Value valid =
          arith::CmpIOp::create(builder_, loc, arith::CmpIPredicate::slt, position, extent);
      OpOperand &yielded = body->getTerminator()->getOpOperand(0);
      Value old = body->getArgument(global.getNumDpsInputs());
      yielded.set(arith::SelectOp::create(builder_, loc, valid, yielded.get(), old));
    }
  }
}

/// `local` with `fill` in the padding of dimension `dim`.
Value FunctionPartitioner::maskDim(Location loc, Value local, int64_t dim, DimShardingAttr split,
                                   int64_t extent, TypedAttr fill) {
  auto type = cast<RankedTensorType>(local.getType());
  Value offset = blockOffset(loc, split, extent);
  Value end = arith::ConstantIndexOp::create(builder_, loc, extent);
  Value neutral = arith::ConstantOp::create(builder_, loc, fill);
  Value empty = tensor::EmptyOp::create(builder_, loc, type.getShape(), type.getElementType());
  AffineMap identity = builder_.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  auto masked = linalg::GenericOp::create(
      builder_, loc, type, local, empty, ArrayRef<AffineMap>{identity, identity}, parallel,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        Value index = linalg::IndexOp::create(builder, loc, dim);
        Value position = arith::AddIOp::create(builder, loc, index, offset);
        Value valid = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, position, end);
        Value kept = arith::SelectOp::create(builder, loc, valid, arguments[0], neutral);
        linalg::YieldOp::create(builder, loc, kept);
      });
  return masked.getResult(0);
}

} // namespace mlir::coll
