//===- lower_indexed.cc - everything but reshapes to linalg and slices -----------===//
//
// After this pass tensors are computed by linalg.generic, linalg.fill, slices,
// reshapes and marked scf.for nests only.
//
//===----------------------------------------------------------------------------===//

#include "passes/export/indexed/lower_indexed.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/window.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_LOWERINDEXEDPASS
#include "passes/passes.h.inc"

Value createFilled(OpBuilder &builder, Location loc, RankedTensorType type, Value scalar) {
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  return linalg::FillOp::create(builder, loc, ValueRange{scalar}, ValueRange{empty}).getResult(0);
}

TypedAttr getSplatScalar(Value value) {
  DenseElementsAttr dense;
  if (!isa<RankedTensorType>(value.getType()) || !matchPattern(value, m_Constant(&dense)) ||
      !dense.isSplat())
    return {};
  return dyn_cast<TypedAttr>(dense.getSplatValue<Attribute>());
}

namespace {

bool isElementwiseOnTensors(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() > 0 &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Splat constants and scalars become values of the body, tensors become inputs.
void lowerElementwise(RewriterBase &rewriter, Operation *op) {
  Location loc = op->getLoc();
  SmallVector<Value> inputs, outputs;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !getSplatScalar(operand))
      inputs.push_back(operand);
  SmallVector<Type> scalarTypes;
  for (Type type : op->getResultTypes()) {
    auto tensorType = cast<RankedTensorType>(type);
    scalarTypes.push_back(tensorType.getElementType());
    outputs.push_back(
        tensor::EmptyOp::create(rewriter, loc, tensorType.getShape(), tensorType.getElementType()));
  }
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  SmallVector<AffineMap> maps(inputs.size() + outputs.size(),
                              rewriter.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    OperationState state(loc, op->getName());
    unsigned next = 0;
    for (Value operand : op->getOperands()) {
      if (TypedAttr splat = getSplatScalar(operand))
        state.operands.push_back(arith::ConstantOp::create(b, loc, splat));
      else
        state.operands.push_back(isa<RankedTensorType>(operand.getType()) ? args[next++] : operand);
    }
    state.addTypes(scalarTypes);
    if (op->getPropertiesStorage())
      state.propertiesAttr = op->getPropertiesAsAttribute();
    linalg::YieldOp::create(b, loc, b.create(state)->getResults());
  };
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(op, op->getResultTypes(), inputs, outputs, maps,
                                                 iterators, body);
}

/// The region becomes that of a linalg.generic over gradients, states and factors.
void lowerRootUpdate(RewriterBase &rewriter, RootUpdateOp op) {
  int64_t rank = cast<RankedTensorType>(op.getGradients()[0].getType()).getRank();
  auto mapOf = [&](Value value) {
    int64_t dims = cast<RankedTensorType>(value.getType()).getRank();
    SmallVector<AffineExpr> leading(dims);
    bindDimsList(op.getContext(), MutableArrayRef<AffineExpr>(leading));
    return AffineMap::get(rank, 0, leading, op.getContext());
  };
  SmallVector<AffineMap> maps = llvm::map_to_vector(op->getOperands(), mapOf);
  SmallVector<Value> inits;
  for (Value result : op.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    inits.push_back(
        tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), type.getElementType()));
    maps.push_back(mapOf(result));
  }
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    IRMapping scalars;
    scalars.map(op.getBody().getArguments(), args.drop_back(inits.size()));
    for (Operation &nested : op.getBody().front().without_terminator())
      b.clone(nested, scalars);
    SmallVector<Value> yielded;
    for (Value value : op.getBody().front().getTerminator()->getOperands())
      yielded.push_back(scalars.lookup(value));
    linalg::YieldOp::create(b, loc, yielded);
  };
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(op, op->getResultTypes(), op->getOperands(), inits,
                                                 maps, iterators, body);
}

void lowerConcat(RewriterBase &rewriter, tensor::ConcatOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  Value result = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
  int64_t position = 0;
  for (Value input : op.getInputs()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(input.getType()).getShape();
    offsets[op.getDim()] = rewriter.getIndexAttr(position);
    result = tensor::InsertSliceOp::create(rewriter, loc, input, result, offsets,
                                           getAsIndexOpFoldResult(rewriter.getContext(), shape),
                                           strides);
    position += shape[op.getDim()];
  }
  rewriter.replaceOp(op, result);
}

LogicalResult lowerPad(RewriterBase &rewriter, tensor::PadOp op) {
  Location loc = op.getLoc();
  Value padding = op.getConstantPaddingValue();
  bool shrinks = llvm::any_of(op.getStaticLow(), [](int64_t low) { return low < 0; }) ||
                 llvm::any_of(op.getStaticHigh(), [](int64_t high) {
                   return high < 0 && !ShapedType::isDynamic(high);
                 });
  if (!padding || llvm::any_of(op.getStaticLow(), ShapedType::isDynamic) || shrinks)
    return op.emitOpError("cannot be lowered: needs one padding value and static, "
                          "non-negative padding");
  if (op->isProperAncestor(padding.getParentBlock()->getParentOp()) ||
      padding.getParentBlock()->getParentOp() == op)
    padding = rewriter.clone(*padding.getDefiningOp())->getResult(0);
  auto type = cast<RankedTensorType>(op.getType());
  Value filled = createFilled(rewriter, loc, type, padding);
  ArrayRef<int64_t> shape = op.getSourceType().getShape();
  SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
  rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
      op, op.getSource(), filled, op.getMixedLowPad(),
      getAsIndexOpFoldResult(rewriter.getContext(), shape), strides);
  return success();
}

/// Each scalar that becomes a tensor is one fill.
void lowerFromElements(RewriterBase &rewriter, tensor::FromElementsOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  if (op.getElements().size() == 1) {
    rewriter.replaceOp(op, createFilled(rewriter, loc, type, op.getElements()[0]));
    return;
  }
  Value result = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  auto unitType =
      RankedTensorType::get(SmallVector<int64_t>(type.getRank(), 1), type.getElementType());
  SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
  SmallVector<int64_t> strides = computeStrides(type.getShape());
  for (auto [i, element] : llvm::enumerate(op.getElements())) {
    SmallVector<OpFoldResult> offsets =
        getAsIndexOpFoldResult(rewriter.getContext(), delinearize(i, strides));
    Value filled = createFilled(rewriter, loc, unitType, element);
    result = tensor::InsertSliceOp::create(rewriter, loc, filled, result, offsets, ones, ones);
  }
  rewriter.replaceOp(op, result);
}

void lowerInsert(RewriterBase &rewriter, tensor::InsertOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  auto unitType =
      RankedTensorType::get(SmallVector<int64_t>(type.getRank(), 1), type.getElementType());
  Value filled = createFilled(rewriter, loc, unitType, op.getScalar());
  if (type.getRank() == 0) {
    rewriter.replaceOp(op, filled);
    return;
  }
  SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
  rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
      op, filled, op.getDest(), getAsOpFoldResult(op.getIndices()), ones, ones);
}

/// A splat constant as initial value becomes a fill, so that it is written where the result will
/// be.
void fillSplatInits(RewriterBase &rewriter, linalg::GenericOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    TypedAttr splat = getSplatScalar(init.get());
    if (!splat)
      continue;
    Value filled;
    auto type = cast<RankedTensorType>(init.get().getType());
    if (op.payloadUsesValueFromOperand(&init))
      filled = createFilled(rewriter, op.getLoc(), type,
                            arith::ConstantOp::create(rewriter, op.getLoc(), splat));
    else
      filled =
          tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    rewriter.modifyOpInPlace(op, [&] { init.set(filled); });
  }
}

/// A splat constant that is about to be overwritten is filled where it is needed, not copied from a
/// constant.
void fillSplatOperands(RewriterBase &rewriter, MutableArrayRef<OpOperand> operands) {
  for (OpOperand &operand : operands) {
    Operation *op = operand.getOwner();
    TypedAttr splat = getSplatScalar(operand.get());
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!splat || type.getNumElements() <= 1)
      continue;
    Value scalar = arith::ConstantOp::create(rewriter, op->getLoc(), splat);
    Value filled = createFilled(rewriter, op->getLoc(), type, scalar);
    rewriter.modifyOpInPlace(op, [&] { operand.set(filled); });
  }
}

LogicalResult lowerOp(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto take = dyn_cast<TakeOp>(op))
    lowerTake(rewriter, take);
  else if (auto accumulate = dyn_cast<AccumulateOp>(op))
    lowerAccumulate(rewriter, accumulate);
  else if (auto sort = dyn_cast<SortOp>(op))
    lowerSort(rewriter, sort);
  else if (auto update = dyn_cast<RootUpdateOp>(op))
    lowerRootUpdate(rewriter, update);
  else if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    lowerConcat(rewriter, concat);
  else if (auto pad = dyn_cast<tensor::PadOp>(op))
    return lowerPad(rewriter, pad);
  else if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
    lowerFromElements(rewriter, elements);
  else if (auto insert = dyn_cast<tensor::InsertOp>(op))
    lowerInsert(rewriter, insert);
  else if (auto splat = dyn_cast<tensor::SplatOp>(op))
    rewriter.replaceOp(op, createFilled(rewriter, op->getLoc(), splat.getType(), splat.getInput()));
  else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    fillSplatOperands(rewriter, insert.getDestMutable());
  else if (isa<scf::WhileOp, scf::ForOp>(op))
    fillSplatOperands(rewriter, op->getOpOperands());
  else if (isElementwiseOnTensors(op))
    lowerElementwise(rewriter, op);
  return success();
}

LogicalResult lowerLinalgOp(RewriterBase &rewriter, linalg::LinalgOp op) {
  rewriter.setInsertionPoint(op);
  if (isa<linalg::FillOp>(op))
    return success();
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> generalized = linalg::generalizeNamedOp(rewriter, op);
    if (failed(generalized))
      return op.emitOpError("has no linalg.generic form");
    generic = *generalized;
    rewriter.setInsertionPoint(generic);
  }
  fillSplatInits(rewriter, generic);
  return success();
}

/// Operations inside of a linalg body or a marked nest are scalar code already.
bool isInsideKernel(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<linalg::LinalgOp, AccumulateOp, SortOp, RootUpdateOp, tensor::PadOp>(parent) ||
        parent->hasAttr(kKernelAttr))
      return true;
  return false;
}

struct LowerIndexedPass : public impl::LowerIndexedPassBase<LowerIndexedPass> {
  using LowerIndexedPassBase::LowerIndexedPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect, linalg::LinalgDialect,
                    math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    getOperation().walk([](WindowOp window) { dissolveWindow(window); });
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isInsideKernel(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      auto accumulate = dyn_cast<AccumulateOp>(op);
      rewriter.setInsertionPoint(op);
      if (gpu && accumulate &&
          (lowerOneHot(rewriter, accumulate) || lowerAccumulateToLists(rewriter, accumulate)))
        continue;
      if (auto sort = dyn_cast<SortOp>(op); sort && gpu) {
        lowerSortToMerges(rewriter, sort);
        continue;
      }
      if (failed(linalgOp ? lowerLinalgOp(rewriter, linalgOp) : lowerOp(rewriter, op)))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace mlir::coll
