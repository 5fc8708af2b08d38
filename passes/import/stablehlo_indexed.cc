//===- stablehlo_indexed.cc - reads and writes at computed positions -------------===//

#include "passes/import/stablehlo_indexed.h"

#include "dialect/dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/import/stablehlo_attrs.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_handlers.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

namespace {

/// Start positions from the operands after `first`, clamped so that `sizes` fits; constant if the
/// start is known or can only be 0.
SmallVector<OpFoldResult> clampedStarts(Source &src, unsigned first, ArrayRef<int64_t> operand,
                                        ArrayRef<int64_t> sizes) {
  ImplicitLocOpBuilder &b = src.b;
  SmallVector<OpFoldResult> starts;
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip_equal(operand, sizes))) {
    int64_t last = std::get<0>(sizes) - std::get<1>(sizes);
    Value start = src.operand(first + dim);
    bool isUnsigned = src.operandKind(first + dim) == ElementKind::Unsigned;
    std::optional<APInt> constant = splatInteger(start);
    if (last == 0 || constant) {
      int64_t known = last;
      if (constant && last != 0 && (!isUnsigned || constant->ult(last)))
        known = std::clamp<int64_t>(constant->getSExtValue(), 0, last);
      starts.push_back(b.getIndexAttr(known));
      continue;
    }
    Value scalar = extractScalar(b, start);
    Type index = b.getIndexType();
    Value position = isUnsigned ? Value(arith::IndexCastUIOp::create(b, index, scalar))
                                : Value(arith::IndexCastOp::create(b, index, scalar));
    position = arith::MaxSIOp::create(b, position, arith::ConstantIndexOp::create(b, 0));
    position = arith::MinSIOp::create(b, position, arith::ConstantIndexOp::create(b, last));
    starts.push_back(position);
  }
  return starts;
}

/// Checks the start operands from `first` on, one integer scalar per dimension,
/// and that `sizes` fits into the operand.
LogicalResult checkDynamicSlice(Source &src, unsigned first, ArrayRef<int64_t> sizes) {
  RankedTensorType operand = src.operandTensor(0);
  unsigned rank = operand.getRank();
  if (src.op->getNumOperands() != first + rank)
    return src.error("needs " + Twine(rank) + " start indices");
  for (unsigned dim = 0; dim < rank; ++dim) {
    RankedTensorType start = src.operandTensor(first + dim);
    if (start.getRank() != 0 || !start.getElementType().isInteger())
      return src.error("needs start indices that are integers of rank 0");
    if (sizes[dim] < 0 || sizes[dim] > operand.getDimSize(dim))
      return src.error("needs 0 <= slice size <= size in dimension " + Twine(dim));
  }
  return success();
}

} // namespace

LogicalResult importDynamicSlice(Source &src) {
  if (src.op->getNumOperands() == 0)
    return src.error("needs an operand");
  RankedTensorType operand = src.operandTensor(0);
  int64_t rank = operand.getRank();
  FailureOr<SmallVector<int64_t>> sizes = getInts(src.op, "slice_sizes", rank);
  if (failed(sizes) || failed(checkDynamicSlice(src, 1, *sizes)))
    return failure();
  if (src.tensor() != operand.clone(*sizes))
    return src.error("needs the result's shape to be the slice's");
  if (src.tensor() == operand)
    return src.finish(src.operand(0));
  if (src.tensor().getNumElements() == 0)
    return src.finish(Value(tensor::EmptyOp::create(src.b, *sizes, operand.getElementType())));
  return src.finish(Value(tensor::ExtractSliceOp::create(
      src.b, src.operand(0), clampedStarts(src, 1, operand.getShape(), *sizes),
      indexAttrs(src.b, *sizes), indexAttrs(src.b, SmallVector<int64_t>(rank, 1)))));
}

LogicalResult importDynamicUpdateSlice(Source &src) {
  if (src.op->getNumOperands() < 2)
    return src.error("needs an operand and an update");
  RankedTensorType operand = src.operandTensor(0), update = src.operandTensor(1);
  int64_t rank = operand.getRank();
  if (update.getRank() != rank || update.getElementType() != operand.getElementType() ||
      src.tensor() != operand)
    return src.error("needs an update and a result of the operand's rank and element type");
  if (failed(checkDynamicSlice(src, 2, update.getShape())))
    return failure();
  if (update == operand)
    return src.finish(src.operand(1));
  if (update.getNumElements() == 0)
    return src.finish(src.operand(0));
  return src.finish(Value(tensor::InsertSliceOp::create(
      src.b, src.operand(1), src.operand(0),
      clampedStarts(src, 2, operand.getShape(), update.getShape()),
      indexAttrs(src.b, update.getShape()), indexAttrs(src.b, SmallVector<int64_t>(rank, 1)))));
}

namespace {

/// The indices with their vector as the last dimension and signed elements of the same value;
/// `batchDims`, dimensions of the source's indices, are adapted.
FailureOr<Value> normalizedIndices(Source &src, unsigned operand, int64_t vectorDim,
                                   SmallVector<int64_t> &batchDims) {
  ImplicitLocOpBuilder &b = src.b;
  RankedTensorType type = src.operandTensor(operand);
  int64_t rank = type.getRank();
  if (!type.getElementType().isInteger())
    return src.error("needs integer indices");
  if (vectorDim < 0 || vectorDim > rank)
    return src.error("needs index_vector_dim within [0, rank of the indices]");
  Value indices = src.operand(operand);
  if (src.operandKind(operand) == ElementKind::Unsigned && type.getElementTypeBitWidth() < 64) {
    type = type.clone(b.getI64Type());
    indices = arith::ExtUIOp::create(b, type, indices);
  }
  if (vectorDim == rank) {
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(1);
    return reshape(b, indices, shape);
  }
  if (vectorDim == rank - 1)
    return indices;
  // Dimension i moves to dims[i].
  SmallVector<int64_t> dims, shape(type.getShape());
  for (int64_t dim = 0; dim < rank; ++dim)
    dims.push_back(dim == vectorDim ? rank - 1 : dim - (dim > vectorDim));
  shape.erase(shape.begin() + vectorDim);
  shape.push_back(type.getDimSize(vectorDim));
  for (int64_t &dim : batchDims)
    dim -= dim > vectorDim;
  return broadcast(b, indices, dims, type.clone(shape));
}

} // namespace

LogicalResult importGather(Source &src) {
  FailureOr<Fields> fields = getFields(src.op, "dimension_numbers", "gather");
  RankedTensorType operand = src.operandTensor(0);
  FailureOr<SmallVector<int64_t>> sizes = getInts(src.op, "slice_sizes", operand.getRank());
  if (failed(fields) || failed(sizes))
    return failure();
  SmallVector<int64_t> batch(fields->list("start_indices_batching_dims"));
  FailureOr<Value> indices =
      normalizedIndices(src, 1, fields->number("index_vector_dim", 0), batch);
  if (failed(indices))
    return failure();
  // The operation's own verifier labels each constraint; its errors come from here.
  auto take =
      TakeOp::create(src.b, src.tensor(), src.operand(0), *indices, fields->list("offset_dims"),
                     fields->list("collapsed_slice_dims"), fields->list("operand_batching_dims"),
                     batch, fields->list("start_index_map"), *sizes);
  if (failed(verify(take)))
    return src.error("has inconsistent dimension numbers");
  return src.finish(take.getResult());
}

/// Fills `block`, the body of a coll.accumulate. Arguments of the region for other operands stay
/// unset while it is imported, and the region must not use them.
static LogicalResult importCombiner(Source &src, const Combiner &combiner, Block *block) {
  ImplicitLocOpBuilder &b = src.b;
  unsigned count = combiner.elements.size();
  SmallVector<Value> args;
  for (unsigned i = 0; i < 2 * count; ++i) {
    if (i % count == combiner.number)
      args.push_back(block->getArgument(i / count));
    else
      args.push_back(
          UnrealizedConversionCastOp::create(b, combiner.elements[i % count], ValueRange())
              .getResult(0));
  }
  FailureOr<SmallVector<Value>> results =
      src.importer.importScalarRegion(src.op, combiner.region, args);
  if (failed(results))
    return failure();
  if (results->size() != count ||
      (*results)[combiner.number].getType() != combiner.elements[combiner.number])
    return src.error("needs a region that returns one value of each operand's element type");
  YieldOp::create(b, (*results)[combiner.number]);
  SmallVector<Operation *> ops;
  for (Operation &op : block->without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  if (!block->getOps<UnrealizedConversionCastOp>().empty())
    return src.error("combines elements of one operand with those of another");
  return success();
}

FailureOr<Value> buildAccumulate(Source &src, Value operand, Value indices, Value updates,
                                 const IndexedDims &dims, bool isUnique, const Combiner &combiner) {
  ImplicitLocOpBuilder &b = src.b;
  auto accumulate = AccumulateOp::create(b, operand.getType(), operand, indices, updates,
                                         dims.window, dims.inserted, dims.operandBatch,
                                         dims.indicesBatch, dims.indexMap, isUnique);
  Type element = elementOf(operand.getType());
  {
    OpBuilder::InsertionGuard guard(b);
    Block *block =
        b.createBlock(&accumulate.getCombiner(), {}, {element, element}, {b.getLoc(), b.getLoc()});
    if (failed(importCombiner(src, combiner, block)))
      return failure();
  }
  if (failed(verify(accumulate)))
    return src.error("has inconsistent dimension numbers");
  return accumulate.getResult();
}

/// Operands are inputs, indices and as many updates; each result updates one input.
static LogicalResult checkScatter(Source &src, unsigned count) {
  if (count == 0 || src.op->getNumOperands() != 2 * count + 1)
    return src.error("needs as many inputs and updates as results, and indices");
  for (unsigned i = 0; i < count; ++i) {
    RankedTensorType input = src.operandTensor(i), updates = src.operandTensor(count + 1 + i);
    if (src.tensor(i) != input || updates.getElementType() != input.getElementType())
      return src.error("needs updates and a result of the input's element type");
    if (input.getShape() != src.operandTensor(0).getShape() ||
        updates.getShape() != src.operandTensor(count + 1).getShape())
      return src.error("needs inputs of one shape and updates of one shape");
  }
  return success();
}

LogicalResult importScatter(Source &src) {
  unsigned count = src.op->getNumResults();
  if (failed(checkScatter(src, count)))
    return failure();
  FailureOr<Fields> fields = getFields(src.op, "scatter_dimension_numbers", "scatter");
  FailureOr<bool> isUnique = getFlag(src.op, "unique_indices");
  if (failed(fields) || failed(isUnique))
    return failure();
  IndexedDims dims;
  dims.window.assign(fields->list("update_window_dims"));
  dims.inserted.assign(fields->list("inserted_window_dims"));
  dims.operandBatch.assign(fields->list("input_batching_dims"));
  dims.indicesBatch.assign(fields->list("scatter_indices_batching_dims"));
  dims.indexMap.assign(fields->list("scatter_dims_to_operand_dims"));
  FailureOr<Value> indices =
      normalizedIndices(src, count, fields->number("index_vector_dim", 0), dims.indicesBatch);
  if (failed(indices))
    return failure();
  Combiner combiner{src.op->getRegion(0), {}};
  for (unsigned i = 0; i < count; ++i)
    combiner.elements.push_back(src.tensor(i).getElementType());
  SmallVector<Value> results;
  for (; combiner.number < count; ++combiner.number) {
    FailureOr<Value> result =
        buildAccumulate(src, src.operand(combiner.number), *indices,
                        src.operand(count + 1 + combiner.number), dims, *isUnique, combiner);
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  return src.finish(results);
}

} // namespace mlir::coll::stablehlo
