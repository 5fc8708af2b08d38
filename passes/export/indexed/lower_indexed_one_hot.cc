//===- lower_indexed_one_hot.cc - one update for each row ------------------------===//
//
// The gradient of a look-up of one element in each row, as that of cross-entropy, has one update
// in each row of a constant. Element by element it can be part of the kernel that reads it:
//
//   result[i, j] = indices[i] == j ? combine(constant, updates[i]) : constant
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/export/indexed/lower_indexed.h"

namespace mlir::coll {
namespace {

/// Whether the leading dimensions are those of the batch, in order, all others of the indices have
/// one position, and only the last dimension of the operand is indexed.
bool isOneHot(AccumulateOp op) {
  ArrayRef<int64_t> indices = cast<RankedTensorType>(op.getIndices().getType()).getShape();
  int64_t rank = op.getOperand().getType().getRank(), batch = rank - 1;
  auto isCounted = [&](ArrayRef<int64_t> dims) {
    return dims == ArrayRef(llvm::to_vector(llvm::seq<int64_t>(0, batch)));
  };
  return rank > 0 && getSplatScalar(op.getOperand()) && op.getWindowDims().empty() &&
         isCounted(op.getOperandBatchDims()) && isCounted(op.getIndicesBatchDims()) &&
         op.getInsertedDims() == ArrayRef<int64_t>{batch} &&
         op.getIndexMap() == ArrayRef<int64_t>{batch} &&
         llvm::all_of(indices.drop_front(batch), [](int64_t size) { return size == 1; });
}

/// The tensor with its first `rank` dimensions; the others have one position.
Value dropLast(RewriterBase &rewriter, Location loc, Value value, int64_t rank) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == rank)
    return value;
  SmallVector<ReassociationIndices> groups(rank);
  for (int64_t dim = 0; dim < type.getRank() && rank > 0; ++dim)
    groups[std::min(dim, rank - 1)].push_back(dim);
  auto kept = RankedTensorType::get(type.getShape().take_front(rank), type.getElementType());
  return tensor::CollapseShapeOp::create(rewriter, loc, kept, value, groups);
}

} // namespace

bool lowerOneHot(RewriterBase &rewriter, AccumulateOp op) {
  if (!isOneHot(op))
    return false;
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t rank = type.getRank();
  Value indices = dropLast(rewriter, loc, op.getIndices(), rank - 1);
  Value updates = dropLast(rewriter, loc, op.getUpdates(), rank - 1);
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  AffineMap all = rewriter.getMultiDimIdentityMap(rank), rows = all.dropResult(rank - 1);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  TypedAttr constant = getSplatScalar(op.getOperand());
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    Value column = linalg::IndexOp::create(b, loc, rank - 1), index = args[0];
    if (!index.getType().isIndex())
      index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
    Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index, column);
    Value old = arith::ConstantOp::create(b, loc, constant);
    Block &combiner = op.getCombiner().front();
    IRMapping mapping;
    mapping.map(combiner.getArgument(0), old);
    mapping.map(combiner.getArgument(1), args[1]);
    for (Operation &inner : combiner.without_terminator())
      b.clone(inner, mapping);
    Value combined = mapping.lookupOrDefault(combiner.getTerminator()->getOperand(0));
    Value result = arith::SelectOp::create(b, loc, isHere, combined, old);
    linalg::YieldOp::create(b, loc, result);
  };
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, TypeRange{type}, ValueRange{indices, updates}, ValueRange{empty},
      ArrayRef<AffineMap>{rows, rows, all}, iterators, body);
  return true;
}

} // namespace mlir::coll
