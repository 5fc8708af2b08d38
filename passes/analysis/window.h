//===- window.h - padded operands of sliding windows -----------------*- C++ -*-===//
//
// A front end writes a convolution or a pooling as padding and one linalg operation. Split over
// ranks, the two belong together (coll.window).
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_WINDOW_H
#define COLL_PASSES_ANALYSIS_WINDOW_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::coll {

/// `source` with `interior` elements between neighbours, then `low` before and `high` behind
/// them; a negative number cuts off. Added elements are `fill`, which is null where there are
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

/// The element that all of `value` is, if it is constant, also behind reshards; null if not.
TypedAttr getSplat(Value value);

/// What `value` is a change of sharding of, or `value`: rules must not depend on reshards.
Value stripReshards(Value value);

/// The operation that decides how `op` is split: what a coll.window computes, else `op`.
Operation *getCore(Operation *op);

/// Makes one operation of each linalg operation in `region` that slides over padded operands and
/// this padding, and of each concatenation of slices, such as a roll, and these.
void formWindows(Region &region);

/// The opposite: the region's operations in place of `op`.
void dissolveWindow(WindowOp op);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_WINDOW_H
