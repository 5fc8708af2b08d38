//===- verify_collectives.cc - verifiers of collectives, send and recv --------===//
//
// verify() checks what an operation says by itself, verifyGroupSize(n) what
// depends on the number of ranks n in the group, once the mesh has been found.
//
//===----------------------------------------------------------------------------===//

#include "dialect/dialect.h"

#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::coll;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

/// The reduction applies to the elements of `type`.
static LogicalResult verifyReduction(Operation *op, ReductionKind kind, Type type) {
  Type element = getElementTypeOrSelf(type);
  switch (kind) {
  case ReductionKind::And:
  case ReductionKind::Or:
  case ReductionKind::Xor:
  case ReductionKind::UMin:
  case ReductionKind::UMax:
    if (isa<FloatType>(element))
      return op->emitOpError("reduction ")
             << stringifyReductionKind(kind) << " needs integer elements, but has " << element;
    return success();
  case ReductionKind::Avg:
    if (!isa<FloatType>(element))
      return op->emitOpError("reduction avg needs float elements, but has ") << element;
    return success();
  default:
    return success();
  }
}

/// `accumulation`, if given, is wider than the elements of `type`.
static LogicalResult verifyAccumulation(Operation *op, std::optional<Type> accumulation,
                                        Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (!accumulation || (accumulation->isF32() && element && element.getWidth() < 32))
    return success();
  return op->emitOpError("combines ")
         << getElementTypeOrSelf(type) << " elements in " << *accumulation
         << "; only floats narrower than f32 are combined in f32";
}

/// `dim` is a dimension of `type`.
static LogicalResult verifyDim(Operation *op, StringRef name, int64_t dim, Type type) {
  if (dim >= 0 && dim < cast<ShapedType>(type).getRank())
    return success();
  return op->emitOpError() << name << " " << dim << " is not a dimension of " << type;
}

/// `root` is a position in a group of `n`.
static LogicalResult verifyRoot(Operation *op, int64_t root, int64_t n) {
  if (root >= 0 && root < n)
    return success();
  return op->emitOpError("root ") << root << " is not within a group of " << n;
}

static LogicalResult verifyTag(Operation *op, int64_t tag) {
  if (tag >= 0)
    return success();
  return op->emitOpError("tag must not be negative, but is ") << tag;
}

/// Multiplies `shape[dim]` by `n`.
static LogicalResult multiplyDim(Operation *op, SmallVectorImpl<int64_t> &shape, int64_t dim,
                                 int64_t n) {
  int64_t extent = shape[dim];
  if (llvm::MulOverflow(extent, n, shape[dim]))
    return op->emitOpError("dimension ") << dim << " of the result does not fit 64 bits";
  return success();
}

/// Divides `shape[dim]` by `n`.
static LogicalResult divideDim(Operation *op, SmallVectorImpl<int64_t> &shape, int64_t dim,
                               int64_t n) {
  if (shape[dim] % n != 0)
    return op->emitOpError("a group of ")
           << n << " does not divide dimension " << dim << " of length " << shape[dim];
  shape[dim] /= n;
  return success();
}

/// The result has the type of the input, except for `shape`.
static LogicalResult verifyResultShape(Operation *op, ArrayRef<int64_t> shape) {
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  auto expected = RankedTensorType::get(shape, input.getElementType(), input.getEncoding());
  Type result = op->getResult(0).getType();
  if (result == expected)
    return success();
  return op->emitOpError("result must be ") << expected << ", but is " << result;
}

/// The result is the input with `dim` `n` times as long.
static LogicalResult verifyGathered(Operation *op, int64_t dim, int64_t n) {
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<int64_t> shape(input.getShape());
  if (failed(multiplyDim(op, shape, dim, n)))
    return failure();
  return verifyResultShape(op, shape);
}

/// The result is the input with `dim` divided by `n`.
static LogicalResult verifyScattered(Operation *op, int64_t dim, int64_t n) {
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<int64_t> shape(input.getShape());
  if (failed(divideDim(op, shape, dim, n)))
    return failure();
  return verifyResultShape(op, shape);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

LogicalResult AllReduceOp::verify() {
  if (failed(verifyReduction(*this, getReduction(), getInput().getType()))) // (C1)
    return failure();
  return verifyAccumulation(*this, getAccumulation(), getInput().getType()); // (C2)
}

LogicalResult AllReduceOp::verifyGroupSize(int64_t) { return success(); }

LogicalResult ReduceOp::verify() {
  if (failed(verifyReduction(*this, getReduction(), getInput().getType()))) // (C1)
    return failure();
  return verifyAccumulation(*this, getAccumulation(), getInput().getType()); // (C3)
}

LogicalResult ReduceOp::verifyGroupSize(int64_t n) {
  return verifyRoot(*this, getRootAttr().getInt(), n); // (C2)
}

LogicalResult BroadcastOp::verifyGroupSize(int64_t n) {
  return verifyRoot(*this, getRootAttr().getInt(), n); // (C1)
}

LogicalResult AllGatherOp::verify() {
  return verifyDim(*this, "dim", getDimAttr().getInt(), getInput().getType()); // (C1)
}

LogicalResult AllGatherOp::verifyGroupSize(int64_t n) {
  return verifyGathered(*this, getDimAttr().getInt(), n); // (C2)
}

LogicalResult GatherOp::verify() {
  return verifyDim(*this, "dim", getDimAttr().getInt(), getInput().getType()); // (C1)
}

LogicalResult GatherOp::verifyGroupSize(int64_t n) {
  if (failed(verifyGathered(*this, getDimAttr().getInt(), n))) // (C2)
    return failure();
  return verifyRoot(*this, getRootAttr().getInt(), n); // (C3)
}

LogicalResult ScatterOp::verify() {
  return verifyDim(*this, "dim", getDimAttr().getInt(), getInput().getType()); // (C1)
}

LogicalResult ScatterOp::verifyGroupSize(int64_t n) {
  if (failed(verifyScattered(*this, getDimAttr().getInt(), n))) // (C2)
    return failure();
  return verifyRoot(*this, getRootAttr().getInt(), n); // (C3)
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyReduction(*this, getReduction(), getInput().getType()))) // (C1)
    return failure();
  if (failed(verifyDim(*this, "dim", getDimAttr().getInt(), getInput().getType()))) // (C2)
    return failure();
  return verifyAccumulation(*this, getAccumulation(), getInput().getType()); // (C4)
}

LogicalResult ReduceScatterOp::verifyGroupSize(int64_t n) {
  return verifyScattered(*this, getDimAttr().getInt(), n); // (C3)
}

LogicalResult AllToAllOp::verify() {
  Type type = getInput().getType();
  if (failed(verifyDim(*this, "split_dim", getSplitDimAttr().getInt(), type))) // (C1)
    return failure();
  return verifyDim(*this, "concat_dim", getConcatDimAttr().getInt(), type); // (C1)
}

LogicalResult AllToAllOp::verifyGroupSize(int64_t n) {
  SmallVector<int64_t> shape(getInput().getType().getShape());
  if (failed(divideDim(*this, shape, getSplitDimAttr().getInt(), n)) || // (C2)
      failed(multiplyDim(*this, shape, getConcatDimAttr().getInt(), n)))
    return failure();
  return verifyResultShape(*this, shape); // (C3)
}

LogicalResult BarrierOp::verifyGroupSize(int64_t) { return success(); }

LogicalResult InitOp::verifyGroupSize(int64_t) { return success(); }

//===----------------------------------------------------------------------===//
// Point to point
//===----------------------------------------------------------------------===//

LogicalResult SendOp::verify() { return verifyTag(*this, getTagAttr().getInt()); } // (C1)

LogicalResult SendOp::verifyGroupSize(int64_t) { return success(); }

LogicalResult RecvOp::verify() { return verifyTag(*this, getTagAttr().getInt()); } // (C1)

LogicalResult RecvOp::verifyGroupSize(int64_t) { return success(); }
