//===- elementwise_slice.cc ------------------------------------------------------===//

#include "passes/analysis/elementwise_slice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

namespace mlir::coll {

namespace {

/// The scalar of a splat constant, or null.
TypedAttr getSplat(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return nullptr;
  return dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
}

bool hasShape(Value value, ArrayRef<int64_t> shape) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getShape() == shape;
}

} // namespace

bool isElementwiseOver(Operation *op, ArrayRef<int64_t> shape) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
         op->getNumOperands() > 0 && hasShape(op->getResult(0), shape) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return hasShape(operand, shape); });
}

Value getBroadcastFactor(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() > 0)
    return nullptr;
  Value input = op.getDpsInputOperand(0)->get();
  auto type = dyn_cast<RankedTensorType>(input.getType());
  Block *body = op.getBlock();
  bool isCopy = body->getTerminator()->getOperand(0) == body->getArgument(0);
  return type && type.getRank() == 0 && isCopy ? input : nullptr;
}

ElementwiseSlice ElementwiseSlice::create(ValueRange ends, ValueRange stops) {
  ElementwiseSlice slice;
  slice.shape_ = llvm::to_vector(cast<RankedTensorType>(ends[0].getType()).getShape());
  llvm::SetVector<Value> stopSet(stops.begin(), stops.end());
  for (Value end : ends)
    slice.visit(end, stopSet);
  return slice;
}

/// Post-order, without recursion: chains of a long step are deep.
void ElementwiseSlice::visit(Value end, const llvm::SetVector<Value> &stops) {
  auto openOp = [&](Value value) -> Operation * {
    if (stops.contains(value) || !hasShape(value, shape_)) {
      leaves_.insert(value);
      return nullptr;
    }
    if (getSplat(value))
      return nullptr;
    if (Value factor = getBroadcastFactor(value)) {
      factors_.insert(factor);
      return nullptr;
    }
    Operation *op = value.getDefiningOp();
    if (!op || !isElementwiseOver(op, shape_)) {
      leaves_.insert(value);
      return nullptr;
    }
    return visited_.insert(op).second ? op : nullptr;
  };
  SmallVector<std::pair<Operation *, unsigned>> path;
  if (Operation *op = openOp(end))
    path.push_back({op, 0});
  while (!path.empty()) {
    auto &[op, next] = path.back();
    if (next == op->getNumOperands()) {
      ops_.push_back(op);
      path.pop_back();
      continue;
    }
    if (Operation *operand = openOp(op->getOperand(next++)))
      path.push_back({operand, 0});
  }
}

Value ElementwiseSlice::findCommonValue(ValueRange ends,
                                        llvm::function_ref<bool(Value)> isCut) const {
  // Whether a path leads from a cut leaf to an end without passing `blocked`.
  auto reaches = [&](Value blocked) {
    llvm::DenseSet<Value> reached;
    for (Value leaf : leaves_)
      if (leaf != blocked && isCut(leaf))
        reached.insert(leaf);
    for (Operation *op : ops_)
      if (op->getResult(0) != blocked &&
          llvm::any_of(op->getOperands(), [&](Value v) { return reached.contains(v); }))
        reached.insert(op->getResult(0));
    return llvm::any_of(ends, [&](Value end) { return reached.contains(end); });
  };
  if (!reaches(nullptr))
    return nullptr;
  for (Value leaf : leaves_)
    if (isCut(leaf) && !reaches(leaf))
      return leaf;
  for (Operation *op : ops_)
    if (!reaches(op->getResult(0)))
      return op->getResult(0);
  return nullptr;
}

Value ElementwiseSlice::elementOf(OpBuilder &builder, Location loc, Value value,
                                  IRMapping &elements) const {
  if (Value known = elements.lookupOrNull(value))
    return known;
  if (Value factor = getBroadcastFactor(value))
    return elements.lookup(factor);
  Value constant = arith::ConstantOp::create(builder, loc, getSplat(value));
  elements.map(value, constant);
  return constant;
}

SmallVector<Value> ElementwiseSlice::cloneForElement(OpBuilder &builder, ValueRange ends,
                                                     IRMapping &elements) const {
  for (Operation *op : ops_) {
    if (elements.contains(op->getResult(0)))
      continue;
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.operands.push_back(elementOf(builder, op->getLoc(), operand, elements));
    state.addTypes(getElementTypeOrSelf(op->getResult(0).getType()));
    if (op->getPropertiesStorage())
      state.propertiesAttr = op->getPropertiesAsAttribute();
    elements.map(op->getResult(0), builder.create(state)->getResult(0));
  }
  return llvm::map_to_vector(
      ends, [&](Value end) { return elementOf(builder, builder.getUnknownLoc(), end, elements); });
}

} // namespace mlir::coll
