//===- verify_indexed.cc - verifiers of take, accumulate and gemm -------------===//
//
// (Cn) names the constraint in ops.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/dialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::coll;

//===----------------------------------------------------------------------===//
// Dimension lists
//===----------------------------------------------------------------------===//

/// The dimensions of 0 … rank - 1 that occur in none of `lists`, in order.
static SmallVector<int64_t> dimsOutside(int64_t rank, ArrayRef<ArrayRef<int64_t>> lists) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (llvm::none_of(lists, [&](ArrayRef<int64_t> list) { return llvm::is_contained(list, dim); }))
      dims.push_back(dim);
  return dims;
}

SmallVector<int64_t> TakeOp::getWindowDims() {
  return dimsOutside(getOperand().getType().getRank(), {getCollapsedDims(), getOperandBatchDims()});
}

SmallVector<int64_t> TakeOp::getBatchDims() {
  return dimsOutside(getResult().getType().getRank(), {getOffsetDims()});
}

SmallVector<int64_t> AccumulateOp::getOperandWindowDims() {
  return dimsOutside(getOperand().getType().getRank(), {getInsertedDims(), getOperandBatchDims()});
}

SmallVector<int64_t> AccumulateOp::getBatchDims() {
  return dimsOutside(getUpdates().getType().getRank(), {getWindowDims()});
}

namespace {
/// A named list of dimensions.
struct DimList {
  StringRef name;
  ArrayRef<int64_t> dims;
};
} // namespace

/// Every entry is within `rank`, none occurs twice, and, if asked, they ascend.
static LogicalResult verifyDimList(Operation *op, DimList list, int64_t rank, bool sorted) {
  llvm::BitVector seen(rank);
  int64_t previous = -1;
  for (int64_t dim : list.dims) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << list.name << " has " << dim << ", which is not within rank "
                               << rank;
    if (seen.test(dim))
      return op->emitOpError() << list.name << " has " << dim << " twice";
    if (sorted && dim < previous)
      return op->emitOpError() << list.name << " must ascend, but " << dim << " follows "
                               << previous;
    seen.set(dim);
    previous = dim;
  }
  return success();
}

static LogicalResult verifyDisjoint(Operation *op, DimList a, DimList b) {
  for (int64_t dim : a.dims)
    if (llvm::is_contained(b.dims, dim))
      return op->emitOpError() << "dimension " << dim << " is in " << a.name << " and in "
                               << b.name;
  return success();
}

static LogicalResult verifyIndices(Operation *op, RankedTensorType indices,
                                   ArrayRef<int64_t> indexMap) {
  if (indices.getRank() < 1 || !indices.getElementType().isIntOrIndex())
    return op->emitOpError("indices must have integer elements and rank >= 1, but are ") << indices;
  if (indices.getShape().back() != static_cast<int64_t>(indexMap.size()))
    return op->emitOpError("index_map has ")
           << indexMap.size() << " entries, but the last dimension of the indices is "
           << indices.getShape().back();
  return success();
}

/// `dropped`, `batch` and `indexMap` partition the operand's dimensions properly.
static LogicalResult verifyOperandDims(Operation *op, DimList dropped, DimList batch,
                                       DimList indexMap, int64_t rank) {
  if (failed(verifyDimList(op, dropped, rank, /*sorted=*/true)) ||
      failed(verifyDimList(op, batch, rank, /*sorted=*/true)) ||
      failed(verifyDimList(op, indexMap, rank, /*sorted=*/false)) ||
      failed(verifyDisjoint(op, dropped, batch)))
    return failure();
  return verifyDisjoint(op, batch, indexMap);
}

/// Batch dimensions of operand and indices pair up; those of the operand were checked.
static LogicalResult verifyBatchDims(Operation *op, RankedTensorType operand,
                                     ArrayRef<int64_t> operandDims, RankedTensorType indices,
                                     ArrayRef<int64_t> indicesDims) {
  if (operandDims.size() != indicesDims.size())
    return op->emitOpError("operand_batch_dims has ")
           << operandDims.size() << " entries, but indices_batch_dims has " << indicesDims.size();
  if (failed(verifyDimList(op, {"indices_batch_dims", indicesDims}, indices.getRank() - 1,
                           /*sorted=*/false)))
    return failure();
  for (auto [operandDim, indicesDim] : llvm::zip_equal(operandDims, indicesDims))
    if (operand.getDimSize(operandDim) != indices.getDimSize(indicesDim))
      return op->emitOpError("operand dimension ")
             << operandDim << " has length " << operand.getDimSize(operandDim)
             << ", but indices dimension " << indicesDim << " has length "
             << indices.getDimSize(indicesDim);
  return success();
}

//===----------------------------------------------------------------------===//
// Take
//===----------------------------------------------------------------------===//

static LogicalResult verifySliceSizes(TakeOp op) {
  RankedTensorType operand = op.getOperand().getType();
  ArrayRef<int64_t> sizes = op.getSliceSizes();
  if (static_cast<int64_t>(sizes.size()) != operand.getRank())
    return op.emitOpError("slice_sizes has ")
           << sizes.size() << " entries, but the operand is " << operand;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0 || size > operand.getDimSize(dim))
      return op.emitOpError("slice size ") << size << " of dimension " << dim
                                           << " is not within 0 to " << operand.getDimSize(dim);
  return success();
}

/// A dimension without a place in the window is one element wide.
static LogicalResult verifyUnitSlices(TakeOp op, ArrayRef<int64_t> dims) {
  for (int64_t dim : dims)
    if (op.getSliceSizes()[dim] > 1)
      return op.emitOpError("slice size of collapsed or batch dimension ")
             << dim << " must be 1, but is " << op.getSliceSizes()[dim];
  return success();
}

static LogicalResult verifyTakeResult(TakeOp op) {
  RankedTensorType operand = op.getOperand().getType();
  SmallVector<int64_t> shape(op.getResult().getType().getRank());
  for (auto [resultDim, operandDim] : llvm::zip_equal(op.getOffsetDims(), op.getWindowDims()))
    shape[resultDim] = op.getSliceSizes()[operandDim];
  for (auto [indicesDim, resultDim] : llvm::enumerate(op.getBatchDims()))
    shape[resultDim] = op.getIndices().getType().getDimSize(indicesDim);
  auto expected = RankedTensorType::get(shape, operand.getElementType());
  if (op.getResult().getType() != expected)
    return op.emitOpError("result must be ") << expected << ", but is " << op.getResult().getType();
  return success();
}

LogicalResult TakeOp::verify() {
  RankedTensorType operand = getOperand().getType();
  RankedTensorType indices = getIndices().getType();
  int64_t resultRank = getResult().getType().getRank();
  if (failed(verifyIndices(*this, indices, getIndexMap()))) // (C1)
    return failure();
  if (failed(verifyOperandDims(*this, {"collapsed_dims", getCollapsedDims()}, // (C3)
                               {"operand_batch_dims", getOperandBatchDims()},
                               {"index_map", getIndexMap()}, operand.getRank())))
    return failure();
  if (failed(verifySliceSizes(*this)) || // (C2)
      failed(verifyUnitSlices(*this, getCollapsedDims())) ||
      failed(verifyUnitSlices(*this, getOperandBatchDims())))
    return failure();
  if (failed(verifyBatchDims(*this, operand, getOperandBatchDims(), indices, // (C4)
                             getIndicesBatchDims())))
    return failure();
  if (failed(verifyDimList(*this, {"offset_dims", getOffsetDims()}, resultRank, // (C5)
                           /*sorted=*/true)))
    return failure();
  if (getOffsetDims().size() != getWindowDims().size()) // (C5)
    return emitOpError("offset_dims has ") << getOffsetDims().size() << " entries for "
                                           << getWindowDims().size() << " window dimensions";
  if (resultRank != static_cast<int64_t>(getOffsetDims().size()) + indices.getRank() - 1) // (C6)
    return emitOpError("result must have rank ") << getOffsetDims().size() + indices.getRank() - 1
                                                 << ", but is " << getResult().getType();
  return verifyTakeResult(*this); // (C6)
}

//===----------------------------------------------------------------------===//
// Accumulate
//===----------------------------------------------------------------------===//

static LogicalResult verifyCombiner(AccumulateOp op) {
  Block &block = op.getCombiner().front();
  Type element = op.getOperand().getType().getElementType();
  if (block.getNumArguments() != 2 ||
      llvm::any_of(block.getArgumentTypes(), [&](Type type) { return type != element; }))
    return op.emitOpError("region must take two ")
           << element << ", but takes (" << block.getArgumentTypes() << ")";
  auto yield = dyn_cast_if_present<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || yield.getNumOperands() != 1 || yield.getOperand(0).getType() != element)
    return op.emitOpError("region must end with a coll.yield of one ") << element;
  for (Operation &nested : block)
    if (!isMemoryEffectFree(&nested)) {
      InFlightDiagnostic diagnostic = op.emitOpError("region must be free of side effects");
      diagnostic.attachNote(nested.getLoc()) << "'" << nested.getName() << "' is here";
      return diagnostic;
    }
  return success();
}

static LogicalResult verifyWindow(AccumulateOp op) {
  RankedTensorType updates = op.getUpdates().getType();
  RankedTensorType operand = op.getOperand().getType();
  SmallVector<int64_t> operandDims = op.getOperandWindowDims();
  if (failed(verifyDimList(op, {"window_dims", op.getWindowDims()}, updates.getRank(),
                           /*sorted=*/true)))
    return failure();
  if (op.getWindowDims().size() != operandDims.size())
    return op.emitOpError("window_dims has ") << op.getWindowDims().size() << " entries for "
                                              << operandDims.size() << " window dimensions";
  for (auto [updatesDim, operandDim] : llvm::zip_equal(op.getWindowDims(), operandDims))
    if (updates.getDimSize(updatesDim) > operand.getDimSize(operandDim))
      return op.emitOpError("window dimension ")
             << updatesDim << " of the updates has length " << updates.getDimSize(updatesDim)
             << ", but operand dimension " << operandDim << " only "
             << operand.getDimSize(operandDim);
  return success();
}

static LogicalResult verifyPositions(AccumulateOp op) {
  RankedTensorType updates = op.getUpdates().getType();
  SmallVector<int64_t> positions;
  for (int64_t dim : op.getBatchDims())
    positions.push_back(updates.getDimSize(dim));
  if (ArrayRef<int64_t>(positions) != op.getIndices().getType().getShape().drop_back())
    return op.emitOpError("positions of updates ")
           << updates << " differ from those of indices " << op.getIndices().getType();
  if (updates.getElementType() != op.getOperand().getType().getElementType())
    return op.emitOpError("updates are ")
           << updates << ", but the operand is " << op.getOperand().getType();
  return success();
}

LogicalResult AccumulateOp::verify() {
  RankedTensorType operand = getOperand().getType();
  RankedTensorType indices = getIndices().getType();
  if (failed(verifyIndices(*this, indices, getIndexMap()))) // (C1)
    return failure();
  if (failed(verifyOperandDims(*this, {"inserted_dims", getInsertedDims()}, // (C3)
                               {"operand_batch_dims", getOperandBatchDims()},
                               {"index_map", getIndexMap()}, operand.getRank())))
    return failure();
  if (failed(verifyBatchDims(*this, operand, getOperandBatchDims(), indices, // (C4)
                             getIndicesBatchDims())))
    return failure();
  if (failed(verifyWindow(*this))) // (C5)
    return failure();
  return verifyPositions(*this); // (C6)
}

LogicalResult AccumulateOp::verifyRegions() { return verifyCombiner(*this); } // (C2)

//===----------------------------------------------------------------------===//
// Gemm
//===----------------------------------------------------------------------===//

namespace {
/// The layout of one operand's matrices.
struct MatrixLayout {
  StringRef name;
  RankedTensorType type;
  int64_t rows, cols, ld;
  ArrayRef<int64_t> batchStrides;
};
} // namespace

/// Number of elements, or nullopt if it does not fit into 64 bits.
static std::optional<int64_t> countElements(RankedTensorType type) {
  int64_t count = 1;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(count, extent, count))
      return std::nullopt;
  return count;
}

/// total += (count - 1) * stride; false if that does not fit into 64 bits.
static bool advance(int64_t &total, int64_t count, int64_t stride) {
  int64_t distance;
  return !llvm::MulOverflow(count - 1, stride, distance) &&
         !llvm::AddOverflow(total, distance, total);
}

/// All elements that the matrices touch are inside the operand.
static LogicalResult verifyInside(GemmOp op, const MatrixLayout &layout) {
  ArrayRef<int64_t> batch = op.getBatchSizes();
  if (layout.rows == 0 || layout.cols == 0 || llvm::is_contained(batch, 0))
    return success();
  int64_t last = 0;
  bool fits = advance(last, layout.rows, layout.ld) && advance(last, layout.cols, 1);
  for (auto [size, stride] : llvm::zip_equal(batch, layout.batchStrides))
    fits = fits && advance(last, size, stride);
  std::optional<int64_t> elements = countElements(layout.type);
  if (!fits || !elements || last >= *elements)
    return op.emitOpError() << "matrix " << layout.name << " (" << layout.rows << " x "
                            << layout.cols << ", row stride " << layout.ld << ") reaches outside "
                            << layout.type;
  return success();
}

static LogicalResult verifyNotNegative(GemmOp op, StringRef name, ArrayRef<int64_t> values) {
  for (int64_t value : values)
    if (value < 0)
      return op.emitOpError() << name << " must not be negative, but has " << value;
  return success();
}

LogicalResult GemmOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), c = getC().getType();
  Type factor = a.getElementType(), sum = c.getElementType();
  bool isNarrow = factor.isBF16() || factor.isF16();
  bool isWide = factor.isF32() || factor.isF64();
  if (b.getElementType() != factor || !(isNarrow || isWide) ||
      !(sum == factor || (isNarrow && sum.isF32()))) // (C1)
    return emitOpError("elements must all be f32, f64, bf16 or f16, or sums of bf16 or f16 be f32, "
                       "but are ")
           << factor << ", " << b.getElementType() << ", " << sum;
  if (getPrecision() && *getPrecision() != kPrecisionHighest &&
      *getPrecision() != kPrecisionHigh) // (C5)
    return emitOpError("precision must be highest or high, but is ") << getPrecisionAttr();
  ArrayRef<int64_t> mnk = getMnk(), lds = getLds();
  if (mnk.size() != 3 || lds.size() != 3) // (C2)
    return emitOpError("mnk and lds must have three entries, but have ")
           << mnk.size() << " and " << lds.size();
  if (failed(verifyNotNegative(*this, "mnk", mnk)) || // (C2)
      failed(verifyNotNegative(*this, "lds", lds)))
    return failure();
  ArrayRef<int64_t> stridesA = getBatchStridesA(), stridesB = getBatchStridesB(),
                    stridesC = getBatchStridesC();
  for (ArrayRef<int64_t> list : {stridesA, stridesB, stridesC})
    if (list.size() != getBatchSizes().size()) // (C3)
      return emitOpError("batch strides have ")
             << list.size() << " entries, but batch_sizes has " << getBatchSizes().size();
  for (ArrayRef<int64_t> list : {getBatchSizes(), stridesA, stridesB, stridesC})
    if (failed(verifyNotNegative(*this, "batch list", list))) // (C3)
      return failure();
  int64_t m = mnk[0], n = mnk[1], k = mnk[2];
  MatrixLayout layouts[] = {
      {"A", a, getTransA() ? k : m, getTransA() ? m : k, lds[0], stridesA},
      {"B", b, getTransB() ? n : k, getTransB() ? k : n, lds[1], stridesB},
      {"C", c, m, n, lds[2], stridesC},
  };
  for (const MatrixLayout &layout : layouts)
    if (failed(verifyInside(*this, layout))) // (C4)
      return failure();
  return success();
}
