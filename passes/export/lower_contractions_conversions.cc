//===- lower_contractions_conversions.cc - conversions between copies and products ===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/export/lower_contractions.h"

namespace mlir::coll {
namespace {

/// Whether the operation only converts each element to another type of float.
bool isConversion(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return false;
  Operation *converted = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return isa_and_nonnull<arith::TruncFOp, arith::ExtFOp>(converted) &&
         converted->getOperand(0) == op.getBody()->getArgument(0);
}

/// A transposing copy that keeps the rank, as its maps say.
linalg::GenericOp getTransposition(Operation *op) {
  auto copy = dyn_cast_or_null<linalg::GenericOp>(op);
  bool isOne =
      copy && getTransposedInput(copy) &&
      llvm::all_of(copy.getIndexingMapsArray(), [](AffineMap map) { return map.isPermutation(); });
  return isOne ? copy : linalg::GenericOp();
}

/// `like`, which has one input and one result, of `input` and with results of `elementType`.
Value recreate(RewriterBase &rewriter, linalg::GenericOp like, Value input, ArrayRef<int64_t> shape,
               Type elementType) {
  Value empty = tensor::EmptyOp::create(rewriter, like.getLoc(), shape, elementType);
  SmallVector<AffineMap> maps = like.getIndexingMapsArray();
  if (maps[0].isIdentity()) // of another rank's shape, perhaps
    maps.assign(2, rewriter.getMultiDimIdentityMap(shape.size()));
  return linalg::GenericOp::create(
             rewriter, like.getLoc(), TypeRange{empty.getType()}, ValueRange{input},
             ValueRange{empty}, maps, like.getIteratorTypesArray(),
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value value = args[0];
               if (value.getType() != elementType)
                 value =
                     value.getType().getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth()
                         ? arith::ExtFOp::create(b, loc, elementType, value).getResult()
                         : arith::TruncFOp::create(b, loc, elementType, value).getResult();
               linalg::YieldOp::create(b, loc, value);
             })
      .getResult(0);
}

ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

} // namespace

void moveConversions(RewriterBase &rewriter, ArrayRef<linalg::GenericOp> conversions) {
  for (linalg::GenericOp conversion : conversions) {
    Value input = conversion.getDpsInputs()[0], result = conversion.getResult(0);
    linalg::GenericOp before = getTransposition(input.getDefiningOp());
    if (!before)
      continue;
    Type wanted = getElementTypeOrSelf(result);
    auto multiplies = [](Operation *user) {
      auto product = dyn_cast<linalg::GenericOp>(user);
      return product && isMultiplyAdd(product);
    };
    if (llvm::all_of(result.getUsers(), multiplies)) {
      Value source = before.getDpsInputs()[0];
      rewriter.setInsertionPoint(conversion);
      Value converted = recreate(rewriter, conversion, source, getShape(source), wanted);
      rewriter.replaceOp(conversion,
                         recreate(rewriter, before, converted, getShape(result), wanted));
      if (before.use_empty())
        rewriter.eraseOp(before);
      continue;
    }
    linalg::GenericOp after =
        result.hasOneUse() ? getTransposition(*result.user_begin()) : linalg::GenericOp();
    if (!after)
      continue;
    rewriter.setInsertionPoint(after);
    ArrayRef<int64_t> shape = getShape(after.getResult(0));
    Value moved = recreate(rewriter, after, input, shape, getElementTypeOrSelf(input));
    rewriter.replaceOp(after, recreate(rewriter, conversion, moved, shape, wanted));
    rewriter.eraseOp(conversion);
  }
}

SmallVector<linalg::GenericOp> findConversions(Operation *root) {
  SmallVector<linalg::GenericOp> found;
  root->walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && isConversion(op))
      found.push_back(op);
  });
  return found;
}

} // namespace mlir::coll
