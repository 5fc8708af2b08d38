//===- window.h - padded operands of sliding windows -----------------*- C++ -*-===//
//
// A front end writes a convolution or a pooling as padding and one linalg operation. To be split
// over ranks, the two become one operation (coll.window).
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_WINDOW_H
#define COLL_PASSES_ANALYSIS_WINDOW_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::coll {

/// `source` with `interior` elements between neighbours, then `low` before and `high` behind
/// them; a negative number cuts off. Added elements are `fill`, which is null if there are
/// none.
struct PaddedInput {
  Value source;
  SmallVector<int64_t> low, high, interior;
  TypedAttr fill;

  bool isPlain() const { return !fill && isUncut(); }
  bool isUncut() const;
  /// The shape of the padded value.
  SmallVector<int64_t> getShape() const;
};

/// Looks through padding, cutting and spreading, as far as one fill explains them. `value` is a
/// ranked tensor of static shape.
PaddedInput tracePadding(Value value);

/// The constant that all elements of `value` are, looking through reshards; null if there is none.
TypedAttr getSplat(Value value);

/// The input of the reshard that made `value`, or `value` itself: rules must not depend on
/// reshards.
Value stripReshards(Value value);

/// The operation that decides how `op` is split: what a coll.window computes, else `op`.
Operation *getCore(Operation *op);

/// Makes one operation of each linalg operation in `region` that slides over padded operands and
/// this padding, and of each concatenation of slices, such as a roll, and these.
void formWindows(Region &region);

/// Replaces `op` by the operations of its region.
void dissolveWindow(WindowOp op);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_WINDOW_H
