//===- window.cc -----------------------------------------------------------------===//

#include "passes/analysis/window.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::coll {

Value stripReshards(Value value) {
  while (auto reshard = value.getDefiningOp<ReshardOp>())
    value = reshard.getInput();
  return value;
}

TypedAttr getSplat(Value value) {
  value = stripReshards(value);
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return nullptr;
  if (auto elements = dyn_cast<DenseElementsAttr>(constant))
    return elements.isSplat() ? cast<TypedAttr>(elements.getSplatValue<Attribute>()) : nullptr;
  return dyn_cast<TypedAttr>(constant);
}

namespace {

bool isStatic(ArrayRef<int64_t> sizes) { return !llvm::is_contained(sizes, ShapedType::kDynamic); }

/// Takes `fill` as the added element; false if another one was added before.
bool takeFill(PaddedInput &padded, TypedAttr fill) {
  if (!fill || (padded.fill && padded.fill != fill))
    return false;
  padded.fill = fill;
  return true;
}

bool trace(tensor::PadOp op, PaddedInput &padded) {
  ArrayRef<int64_t> low = op.getStaticLow(), high = op.getStaticHigh();
  Value value = op.getConstantPaddingValue();
  if (!isStatic(low) || !isStatic(high) || !value || !takeFill(padded, getSplat(value)))
    return false;
  for (size_t dim = 0; dim < low.size(); ++dim) {
    padded.low[dim] += low[dim] * (padded.interior[dim] + 1);
    padded.high[dim] += high[dim] * (padded.interior[dim] + 1);
  }
  padded.source = op.getSource();
  return true;
}

/// Elements that were cut off must not be replaced by padding.
bool trace(tensor::ExtractSliceOp op, PaddedInput &padded) {
  RankedTensorType type = op.getSourceType();
  ArrayRef<int64_t> offsets = op.getStaticOffsets(), sizes = op.getStaticSizes();
  bool isCut = isStatic(offsets) && isStatic(sizes) && op.getType().getRank() == type.getRank() &&
               llvm::all_of(op.getStaticStrides(), [](int64_t stride) { return stride == 1; });
  for (int64_t dim = 0; isCut && dim < type.getRank(); ++dim) {
    int64_t behind = type.getDimSize(dim) - offsets[dim] - sizes[dim];
    isCut = padded.interior[dim] == 0 && (offsets[dim] == 0 || padded.low[dim] <= 0) &&
            (behind == 0 || padded.high[dim] <= 0);
  }
  if (!isCut)
    return false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    padded.low[dim] -= offsets[dim];
    padded.high[dim] -= type.getDimSize(dim) - offsets[dim] - sizes[dim];
  }
  padded.source = op.getSource();
  return true;
}

/// Every stride-th element of a fill.
bool trace(tensor::InsertSliceOp op, PaddedInput &padded) {
  RankedTensorType type = op.getSourceType();
  ArrayRef<int64_t> offsets = op.getStaticOffsets(), strides = op.getStaticStrides();
  bool isSpread = isStatic(offsets) && isStatic(op.getStaticSizes()) && isStatic(strides) &&
                  op.getDestType().getRank() == type.getRank() &&
                  llvm::all_of(padded.interior, [](int64_t interior) { return interior == 0; });
  if (!isSpread || !takeFill(padded, getSplat(op.getDest())))
    return false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t end = offsets[dim] + (type.getDimSize(dim) - 1) * strides[dim] + 1;
    padded.interior[dim] = strides[dim] - 1;
    padded.low[dim] += offsets[dim];
    padded.high[dim] += op.getDestType().getDimSize(dim) - end;
  }
  padded.source = op.getSource();
  return true;
}

bool isNonEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() > 0;
}

} // namespace

bool PaddedInput::isUncut() const {
  auto isZero = [](int64_t count) { return count == 0; };
  return llvm::all_of(low, isZero) && llvm::all_of(high, isZero) && llvm::all_of(interior, isZero);
}

SmallVector<int64_t> PaddedInput::getShape() const {
  SmallVector<int64_t> shape(cast<RankedTensorType>(source.getType()).getShape());
  for (auto [dim, size] : llvm::enumerate(shape))
    size += (size - 1) * interior[dim] + low[dim] + high[dim];
  return shape;
}

PaddedInput tracePadding(Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<int64_t> none(rank, 0);
  PaddedInput padded{value, none, none, none, nullptr};
  for (bool goesOn = true; goesOn && padded.source.getDefiningOp();) {
    PaddedInput next = padded;
    goesOn = llvm::TypeSwitch<Operation *, bool>(padded.source.getDefiningOp())
                 .Case<tensor::PadOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(
                     [&](auto op) { return isNonEmpty(op.getSource()) && trace(op, next); })
                 .Default([](Operation *) { return false; });
    if (goesOn)
      padded = std::move(next);
  }
  return padded;
}

Operation *getCore(Operation *op) {
  auto window = dyn_cast<WindowOp>(op);
  return window ? window.getCore() : op;
}

//===----------------------------------------------------------------------===//
// Forming
//===----------------------------------------------------------------------===//

namespace {

/// Whether several loops walk one dimension of an input, as those of a window and of its positions
/// do.
bool slides(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return llvm::any_of(map.getResults(), [](AffineExpr expr) {
      return !isa<AffineDimExpr, AffineConstantExpr>(expr);
    });
  });
}

/// Clones the operations that lead from the mapped values to `value`, and the constants that they
/// read.
Value clonePadding(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    clonePadding(builder, operand, mapping);
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (nested != op && operand.getParentRegion()->isAncestor(op->getParentRegion()))
        clonePadding(builder, operand, mapping);
  });
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Values from outside that the body of `op` reads.
SmallVector<Value> getReadFromOutside(Operation *op) {
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

/// Drops padding that nothing needs any more; `erased` holds what has been dropped.
void eraseUnused(Operation *op, llvm::SmallPtrSetImpl<Operation *> &erased) {
  while (op && !erased.contains(op) && isOpTriviallyDead(op) &&
         isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op)) {
    Operation *before = op->getOperand(0).getDefiningOp();
    erased.insert(op);
    op->erase();
    op = before;
  }
}

/// Makes one operation of `op` and the operations between `sources` and its operands.
void formWindow(Operation *op, ArrayRef<Value> sources) {
  OpBuilder builder(op);
  auto window = WindowOp::create(builder, op->getLoc(), op->getResultTypes(), sources);
  Block &body = window.getBody().emplaceBlock();
  builder.setInsertionPointToStart(&body);
  IRMapping inner;
  SmallVector<Value> operands;
  for (auto [operand, source] : llvm::zip_equal(op->getOperands(), sources)) {
    // Operands of one source may be padded in different ways.
    IRMapping padding;
    padding.map(source, body.addArgument(source.getType(), op->getLoc()));
    operands.push_back(clonePadding(builder, operand, padding));
  }
  for (Value constant : getReadFromOutside(op))
    builder.clone(*constant.getDefiningOp(), inner);
  Operation *core = builder.clone(*op, inner);
  core->setOperands(operands);
  if (Attribute shardings = core->removeAttr(kShardingsAttr))
    window->setAttr(kShardingsAttr, shardings);
  YieldOp::create(builder, op->getLoc(), core->getResults());
  SmallVector<Operation *> padding =
      llvm::map_to_vector(op->getOperands(), [](Value v) { return v.getDefiningOp(); });
  op->replaceAllUsesWith(window->getResults());
  op->erase();
  llvm::SmallPtrSet<Operation *, 8> erased;
  for (Operation *unused : padding)
    eraseUnused(unused, erased);
}

/// The values from which the operands of a sliding operation are padded; empty if none is padded.
SmallVector<Value> findSources(linalg::LinalgOp op) {
  SmallVector<Value> sources;
  bool isPadded = false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isNonEmpty(operand.get()))
      return {};
    PaddedInput padded = tracePadding(operand.get());
    bool isInput = op.isDpsInput(&operand) && !padded.isPlain();
    sources.push_back(isInput ? padded.source : operand.get());
    isPadded |= isInput;
  }
  return isPadded ? sources : SmallVector<Value>();
}

/// The values from which the operands of a concatenation are cut along its dimension; empty if none
/// is cut.
SmallVector<Value> findSources(tensor::ConcatOp op) {
  SmallVector<Value> sources;
  bool isCut = false;
  for (Value operand : op.getInputs()) {
    auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>();
    PaddedInput padded{operand, {}, {}, {}, nullptr};
    padded.low = padded.high = padded.interior = SmallVector<int64_t>(op.getResultType().getRank());
    bool cuts = slice && isNonEmpty(operand) && trace(slice, padded);
    for (auto [dim, low, high] : llvm::enumerate(padded.low, padded.high))
      cuts = cuts && (dim == op.getDim() || (low == 0 && high == 0));
    sources.push_back(cuts ? padded.source : operand);
    isCut |= cuts;
  }
  return isCut ? sources : SmallVector<Value>();
}

} // namespace

void formWindows(Region &region) {
  SmallVector<Operation *> found;
  region.walk([&](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    bool isSliding = linalgOp && slides(linalgOp) && op->getNumResults() > 0 &&
                     llvm::all_of(getReadFromOutside(op),
                                  [](Value value) { return matchPattern(value, m_Constant()); });
    if ((isSliding || isa<tensor::ConcatOp>(op)) && !isa<WindowOp>(op->getParentOp()))
      found.push_back(op);
  });
  for (Operation *op : found) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    SmallVector<Value> sources =
        linalgOp ? findSources(linalgOp) : findSources(cast<tensor::ConcatOp>(op));
    if (!sources.empty())
      formWindow(op, sources);
  }
}

void dissolveWindow(WindowOp op) {
  Block &body = op.getBody().front();
  Operation *terminator = body.getTerminator();
  OpBuilder builder(op);
  IRMapping mapping;
  mapping.map(body.getArguments(), op.getInputs());
  for (Operation &nested : body.without_terminator())
    builder.clone(nested, mapping);
  for (auto [result, value] : llvm::zip(op.getResults(), terminator->getOperands()))
    result.replaceAllUsesWith(mapping.lookup(value));
  op.erase();
}

} // namespace mlir::coll
