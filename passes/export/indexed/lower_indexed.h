//===- lower_indexed.h - pieces of coll-lower-indexed ------------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_INDEXED_LOWER_INDEXED_H
#define COLL_PASSES_EXPORT_INDEXED_LOWER_INDEXED_H

#include "dialect/dialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::coll {

/// A tensor of `type` whose elements are all `scalar`: tensor.empty and linalg.fill.
Value createFilled(OpBuilder &builder, Location loc, RankedTensorType type, Value scalar);

/// The scalar of a splat constant as an attribute, or null.
TypedAttr getSplatScalar(Value value);

/// Replaces the operation by a linalg.generic that reads the operand at clamped positions.
void lowerTake(RewriterBase &rewriter, TakeOp op);

/// Replaces the operation by a loop nest over the updates, in row-major order, that carries the
/// result and drops updates outside of it.
void lowerAccumulate(RewriterBase &rewriter, AccumulateOp op);

/// Replaces an update of one element in each row of a constant by a linalg.generic; false: it is
/// another operation.
bool lowerOneHot(RewriterBase &rewriter, AccumulateOp op);

/// Replaces an accumulation of many rows by a loop nest over the elements of the result; false: it
/// is another operation.
bool lowerAccumulateToLists(RewriterBase &rewriter, AccumulateOp op);

/// Replaces the operation by a loop nest over its rows, which are sorted one by one.
void lowerSort(RewriterBase &rewriter, SortOp op);

/// Replaces the operation by a loop nest for each level of a merge sort. All iterations of a nest
/// are independent.
void lowerSortToMerges(RewriterBase &rewriter, SortOp op);

/// The result of the operation's comparator for two positions: the elements of each input there.
Value emitComparison(OpBuilder &builder, SortOp op, ValueRange first, ValueRange second);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_INDEXED_LOWER_INDEXED_H
