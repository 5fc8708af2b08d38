//===- stablehlo_sort.cc - sort and top_k ----------------------------------------===//

#include "dialect/dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/import/stablehlo_attrs.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_elementwise.h"
#include "passes/import/stablehlo_handlers.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

namespace {

using Comparator = llvm::function_ref<FailureOr<Value>(ValueRange)>;

/// `before` gets a_0, b_0, a_1, b_1, … and returns an i1.
FailureOr<SmallVector<Value>> buildSort(Source &src, ValueRange inputs, int64_t dim,
                                        Comparator before) {
  ImplicitLocOpBuilder &b = src.b;
  auto sort = SortOp::create(b, inputs.getTypes(), inputs, dim);
  SmallVector<Type> types;
  for (Type type : inputs.getTypes())
    types.append(2, elementOf(type));
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&sort.getComparator(), {}, types,
                               SmallVector<Location>(types.size(), b.getLoc()));
  FailureOr<Value> result = before(block->getArguments());
  if (failed(result))
    return failure();
  YieldOp::create(b, *result);
  return SmallVector<Value>(sort.getResults());
}

} // namespace

LogicalResult importSort(Source &src) {
  unsigned count = src.op->getNumOperands();
  if (count == 0 || src.op->getNumResults() != count)
    return src.error("needs operands and as many results");
  RankedTensorType first = src.operandTensor(0);
  for (unsigned i = 0; i < count; ++i)
    if (src.operandTensor(i).getShape() != first.getShape() ||
        src.tensor(i) != src.operandTensor(i))
      return src.error("needs operands of one shape and results of their types");
  FailureOr<int64_t> dim = getInt(src.op, "dimension", -1);
  if (failed(dim))
    return failure();
  int64_t rank = first.getRank(), sorted = *dim < 0 ? *dim + rank : *dim;
  if (sorted < 0 || sorted >= rank)
    return src.error("needs a dimension within the operands' rank");
  SmallVector<Value> inputs = src.operands();
  auto before = [&](ValueRange args) -> FailureOr<Value> {
    FailureOr<SmallVector<Value>> results =
        src.importer.importScalarRegion(src.op, src.op->getRegion(0), args);
    if (failed(results))
      return failure();
    if (results->size() != 1 || !results->front().getType().isInteger(1))
      return src.error("needs a comparator that returns one i1");
    return results->front();
  };
  FailureOr<SmallVector<Value>> results = buildSort(src, inputs, sorted, before);
  if (failed(results))
    return failure();
  return src.finish(*results);
}

LogicalResult importTopK(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  RankedTensorType operand = src.operandTensor(0);
  FailureOr<int64_t> k = getInt(src.op, "k");
  if (failed(k))
    return failure();
  int64_t rank = operand.getRank();
  if (rank == 0 || *k < 0 || *k > operand.getShape().back())
    return src.error("needs an operand of rank >= 1 and 0 <= k <= its last size");
  SmallVector<int64_t> shape(operand.getShape());
  shape.back() = *k;
  RankedTensorType positions = operand.clone(b.getI32Type());
  if (src.tensor(0) != operand.clone(shape) || src.tensor(1) != positions.clone(shape))
    return src.error("needs results of the operand's and of i32 elements, the last size k");
  Value empty = tensor::EmptyOp::create(b, positions.getShape(), b.getI32Type());
  auto count = [&](ValueRange) -> FailureOr<SmallVector<Value>> {
    Value index = linalg::IndexOp::create(b, rank - 1);
    return SmallVector<Value>{arith::IndexCastOp::create(b, b.getI32Type(), index)};
  };
  AffineMap all = b.getMultiDimIdentityMap(rank);
  Value numbers = buildGeneric(b, {}, empty, all, count)->getResult(0);
  // The greatest first; equal ones stay in order.
  auto before = [&](ValueRange args) -> FailureOr<Value> {
    bool isFloat = src.operandKind(0) == ElementKind::Float;
    bool isSigned = isFloat || src.operandKind(0) == ElementKind::Signed;
    Value x = isFloat ? totalOrderKey(b, args[0]) : args[0];
    Value y = isFloat ? totalOrderKey(b, args[1]) : args[1];
    return Value(arith::CmpIOp::create(
        b, isSigned ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::ugt, x, y));
  };
  FailureOr<SmallVector<Value>> sorted =
      buildSort(src, {src.operand(0), numbers}, rank - 1, before);
  if (failed(sorted))
    return failure();
  SmallVector<int64_t> zeros(rank, 0), ones(rank, 1);
  for (Value &result : *sorted) {
    auto type = cast<RankedTensorType>(result.getType()).clone(shape);
    if (type != result.getType())
      result =
          type.getNumElements() == 0
              ? Value(tensor::EmptyOp::create(b, shape, type.getElementType()))
              : Value(tensor::ExtractSliceOp::create(b, result, indexAttrs(b, zeros),
                                                     indexAttrs(b, shape), indexAttrs(b, ones)));
  }
  return src.finish(*sorted);
}

} // namespace mlir::coll::stablehlo
