//===- stablehlo_window.h - sliding windows ---------------------------*- C++ -*-===//
//
// A window operation first pads and spreads its operand; then one linalg.generic reads window
// element w of output position o at o * stride + w * dilation. The window's loops, whose sizes no
// operand has, get them from an empty operand.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_WINDOW_H
#define COLL_PASSES_IMPORT_STABLEHLO_WINDOW_H

#include "passes/import/stablehlo_importer.h"
#include "passes/import/stablehlo_reduction.h"

namespace mlir::coll::stablehlo {

/// A window, one entry per dimension that it slides along.
struct Window {
  SmallVector<int64_t> size, stride, low, high, baseDilation, dilation;

  /// Extent of the window with its holes.
  int64_t span(size_t dim) const;
  /// Number of positions along `dim` over `padded` elements.
  int64_t positions(size_t dim, int64_t padded) const;
  /// Shortens `high` so that no element of the `padded` ones along `dim` remains after the last
  /// position: loops get their sizes from operands that fit exactly.
  void dropRemainder(size_t dim, int64_t padded);
  /// Elements to put between neighbours of the operand.
  SmallVector<int64_t> interior() const;
  /// Whether the window only ever covers the element at its own position.
  bool isTrivial(size_t dim) const;
};

/// Reads the attributes that windows share; strides and dilations are >= 1.
FailureOr<Window> readWindow(Source &src, SmallVector<int64_t> size, StringRef baseDilation,
                             StringRef dilation);
/// The window of an operation that slides along all `rank` dimensions.
FailureOr<Window> readTensorWindow(Source &src, int64_t rank);
/// Checks the shape of `result`, which has one element per position.
LogicalResult checkWindowResult(Source &src, const Window &window, ArrayRef<int64_t> padded,
                                RankedTensorType result);

/// o * stride + w * dilation; without `windowLoop`, the window's first element.
AffineExpr windowExpr(Builder &b, const Window &window, size_t dim, unsigned outLoop,
                      AffineExpr windowLoop);

/// Loops of a window over all dimensions of a tensor: the dimensions, then those
/// window dimensions that are longer than 1.
struct WindowLoops {
  AffineMap input, output, window;
  /// Shape of the operand that gives the window's loops their sizes.
  SmallVector<int64_t> windowShape;
  /// The loop along each window dimension, -1 if it has none.
  SmallVector<int64_t> windowLoop;

  static WindowLoops get(Builder &b, const Window &window);
};

/// The dimension along which a window reads all elements up to its position, or, reversed, from it.
struct RunningDimension {
  int64_t dim;
  bool isReversed;
};

/// The dimension if the window is of that kind, and so long that blocks of it are worth while.
std::optional<RunningDimension> findRunningDimension(const Window &window, ArrayRef<int64_t> shape);

/// Reduces the elements of operand 0 up to each position, in blocks. The reduction has an identity.
FailureOr<Value> buildRunningReduction(Source &src, const Reduction &reduction,
                                       RunningDimension along);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_WINDOW_H
