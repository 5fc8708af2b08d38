//===- stablehlo_shape.cc - operations that move elements ------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/import/stablehlo_attrs.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_handlers.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

LogicalResult importBroadcastInDim(Source &src) {
  RankedTensorType operand = src.operandTensor(0), result = src.tensor();
  FailureOr<SmallVector<int64_t>> dims = getInts(src.op, "broadcast_dimensions", operand.getRank());
  if (failed(dims))
    return failure();
  if (!areDistinctDims(*dims, result.getRank()))
    return src.error("needs distinct broadcast_dimensions within the result's rank");
  for (auto [size, dim] : llvm::zip_equal(operand.getShape(), *dims))
    if (size != 1 && size != result.getDimSize(dim))
      return src.error("cannot broadcast size " + Twine(size) + " to " +
                       Twine(result.getDimSize(dim)));
  if (operand.getElementType() != result.getElementType())
    return src.error("needs a result of the operand's element type");
  if (src.importer.inScalarBody())
    return src.finish(src.operand(0));
  return src.finish(broadcast(src.b, src.operand(0), *dims, result));
}

LogicalResult importReshape(Source &src) {
  RankedTensorType operand = src.operandTensor(0), result = src.tensor();
  if (operand.getNumElements() != result.getNumElements() ||
      operand.getElementType() != result.getElementType())
    return src.error("needs as many elements in its result as in its operand");
  if (src.importer.inScalarBody())
    return src.finish(src.operand(0));
  return src.finish(reshape(src.b, src.operand(0), result.getShape()));
}

LogicalResult importTranspose(Source &src) {
  RankedTensorType operand = src.operandTensor(0), result = src.tensor();
  int64_t rank = operand.getRank();
  FailureOr<SmallVector<int64_t>> permutation = getInts(src.op, "permutation", rank);
  if (failed(permutation))
    return failure();
  if (!areDistinctDims(*permutation, rank))
    return src.error("needs a permutation of the operand's dimensions");
  SmallVector<int64_t> shape =
      llvm::map_to_vector(*permutation, [&](int64_t dim) { return operand.getDimSize(dim); });
  if (result != operand.clone(shape))
    return src.error("needs the result's shape to be the permuted one");
  SmallVector<int64_t> inverse = invertPermutationVector(*permutation);
  return src.finish(broadcast(src.b, src.operand(0), inverse, result));
}

LogicalResult importReverse(Source &src) {
  RankedTensorType type = src.tensor();
  FailureOr<SmallVector<int64_t>> dims = getIntList(src.op, "dimensions");
  if (failed(dims))
    return failure();
  if (!areDistinctDims(*dims, type.getRank()))
    return src.error("needs distinct dimensions within the operand's rank");
  if (src.operandTensor(0) != type)
    return src.error("needs a result of the operand's type");
  return src.finish(reverse(src.b, src.operand(0), *dims));
}

LogicalResult importIota(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  RankedTensorType type = src.tensor();
  FailureOr<int64_t> dim = getInt(src.op, "iota_dimension");
  if (failed(dim))
    return failure();
  if (*dim < 0 || *dim >= type.getRank())
    return src.error("needs iota_dimension within the result's rank");
  if (type.getDimSize(*dim) == 1)
    return src.finish(splatZero(b, type));
  Value empty = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  ElementKind kind = src.kind();
  auto body = [&](ValueRange) -> FailureOr<SmallVector<Value>> {
    Type element = type.getElementType();
    Value index = linalg::IndexOp::create(b, *dim);
    Type intType = kind == ElementKind::Float ? b.getI64Type() : element;
    Value number = arith::IndexCastOp::create(b, intType, index);
    if (kind == ElementKind::Float)
      number = arith::SIToFPOp::create(b, element, number);
    return SmallVector<Value>{number};
  };
  AffineMap all = b.getMultiDimIdentityMap(type.getRank());
  return src.finish(buildGeneric(b, {}, empty, all, body)->getResult(0));
}

LogicalResult importSlice(Source &src) {
  RankedTensorType operand = src.operandTensor(0);
  int64_t rank = operand.getRank();
  FailureOr<SmallVector<int64_t>> starts = getInts(src.op, "start_indices", rank);
  FailureOr<SmallVector<int64_t>> limits = getInts(src.op, "limit_indices", rank);
  FailureOr<SmallVector<int64_t>> strides = getInts(src.op, "strides", rank, 1);
  if (failed(starts) || failed(limits) || failed(strides))
    return failure();
  SmallVector<int64_t> sizes;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t start = (*starts)[dim], limit = (*limits)[dim], stride = (*strides)[dim];
    if (start < 0 || start > limit || limit > operand.getDimSize(dim) || stride < 1)
      return src.error("needs 0 <= start <= limit <= size and stride >= 1 in dimension " +
                       Twine(dim));
    sizes.push_back((limit - start + stride - 1) / stride);
  }
  if (src.tensor() != operand.clone(sizes))
    return src.error("needs the result's shape to be the slice's");
  if (src.tensor() == operand)
    return src.finish(src.operand(0));
  // An empty slice may start at the end, which tensor.extract_slice does not allow.
  if (src.tensor().getNumElements() == 0)
    return src.finish(Value(tensor::EmptyOp::create(src.b, sizes, operand.getElementType())));
  return src.finish(
      Value(tensor::ExtractSliceOp::create(src.b, src.operand(0), indexAttrs(src.b, *starts),
                                           indexAttrs(src.b, sizes), indexAttrs(src.b, *strides))));
}

LogicalResult importConcatenate(Source &src) {
  RankedTensorType result = src.tensor();
  FailureOr<int64_t> dim = getInt(src.op, "dimension");
  if (failed(dim))
    return failure();
  if (src.op->getNumOperands() == 0 || *dim < 0 || *dim >= result.getRank())
    return src.error("needs operands and a dimension within their rank");
  int64_t total = 0;
  SmallVector<Value> parts;
  for (unsigned index = 0; index < src.op->getNumOperands(); ++index) {
    RankedTensorType operand = src.operandTensor(index);
    if (operand.getRank() != result.getRank())
      return src.error("needs operands of the result's rank");
    SmallVector<int64_t> shape(operand.getShape());
    total += shape[*dim];
    shape[*dim] = result.getDimSize(*dim);
    if (operand.clone(shape) != result)
      return src.error("needs operands that differ from the result in one dimension only");
    if (operand.getNumElements() != 0)
      parts.push_back(src.operand(index));
  }
  if (total != result.getDimSize(*dim))
    return src.error("needs operands that add up to the result in dimension " + Twine(*dim));
  if (parts.size() == 1)
    return src.finish(parts.front());
  return src.finish(Value(tensor::ConcatOp::create(src.b, result, *dim, parts)));
}

LogicalResult importPad(Source &src) {
  RankedTensorType operand = src.operandTensor(0), value = src.operandTensor(1);
  int64_t rank = operand.getRank();
  FailureOr<SmallVector<int64_t>> low = getInts(src.op, "edge_padding_low", rank);
  FailureOr<SmallVector<int64_t>> high = getInts(src.op, "edge_padding_high", rank);
  FailureOr<SmallVector<int64_t>> interior = getInts(src.op, "interior_padding", rank, 0);
  if (failed(low) || failed(high) || failed(interior))
    return failure();
  if (llvm::any_of(*interior, [](int64_t n) { return n < 0; }))
    return src.error("needs interior_padding >= 0");
  if (value.getRank() != 0 || value.getElementType() != operand.getElementType())
    return src.error("needs a padding value of rank 0 and of the operand's element type");
  SmallVector<int64_t> shape = paddedShape(operand.getShape(), *low, *high, *interior);
  if (src.tensor().getShape() != ArrayRef<int64_t>(shape) ||
      src.tensor().getElementType() != operand.getElementType())
    return src.error("needs the result's shape to be the padded one");
  return src.finish(pad(src.b, src.operand(0), src.operand(1), *low, *high, *interior));
}

} // namespace mlir::coll::stablehlo
