//===- pattern.h - a convolution as the loops of a sum of products -----*- C++ -*-===//
//
// Every convolution, and each of its gradients, is a sum
//
//   out[outer][o][g][right] += windowed[outer][o * oFactor + w * wFactor][g][inner]
//                              * plain[w][g][inner][right]
//
// and only the sizes tell which it is. Where the sum reads a tensor with zeros around or between
// its elements, the tensor itself is meant: base, whose position i is position `offset + spread *
// i` of what the sum reads.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_CONVOLUTIONS_PATTERN_H
#define COLL_PASSES_EXPORT_CONVOLUTIONS_PATTERN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::coll {

/// The loops of the sum; -1: there is none.
struct ConvolutionLoops {
  unsigned windowed = 0; // the operand that windows slide over; the other one is plain
  int64_t outer = -1, inner = -1, right = -1, group = -1;
  struct Spatial {
    int64_t output, window; // loops
    int64_t outputFactor, windowFactor;
  };
  SmallVector<Spatial> spatial; // in the order of the windowed operand's dimensions

  /// Which loop each dimension moves with; a spatial dimension of the windowed operand counts as
  /// its output loop.
  SmallVector<int64_t> windowedDims, plainDims, resultDims;
  SmallVector<int64_t> extents; // of the loops
};

/// Fails if the operation is not such a sum.
std::optional<ConvolutionLoops> readConvolutionLoops(linalg::GenericOp op);

/// A tensor under zeros that were put around and between its elements; one entry for each of its
/// dimensions.
struct SpreadTensor {
  Value base;
  SmallVector<int64_t> offsets, spreads;
};

/// From `value` itself to the innermost tensor under it. Only dimensions in `spatial` are spread.
SmallVector<SpreadTensor> findSpreadTensors(Value value, ArrayRef<int64_t> spatial);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_CONVOLUTIONS_PATTERN_H
