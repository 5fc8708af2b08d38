//===- form.h - which convolution a sum of products is -----------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_CONVOLUTIONS_FORM_H
#define COLL_PASSES_EXPORT_CONVOLUTIONS_FORM_H

#include "passes/export/convolutions/pattern.h"

namespace mlir::coll {

/// The attributes of a coll.convolution, and how its tensors come from those of the sum.
struct ConvolutionForm {
  StringRef kind;
  int64_t batch, groups, channels, features;
  SmallVector<int64_t> input, window, output, strides, dilations, pads;
  Value base; // in the place of the windowed operand
  /// In the order that coll.convolution wants: the loops of each tensor's dimensions.
  SmallVector<int64_t> windowedOrder, plainOrder, resultOrder;
  /// The plain operand is read backwards along its windows.
  bool isReversed = false;
  /// The result of the convolution, in resultOrder, has more positions than the sum's; the sum's
  /// begin at these. Empty: it has as many.
  SmallVector<int64_t> cut, cutShape;
};

/// Takes the innermost of the tensors that the windowed operand may be which makes a convolution
/// whose padding is the same on both sides. Fails if the sum is a matrix product, or if none does.
std::optional<ConvolutionForm> findConvolutionForm(linalg::GenericOp op,
                                                   const ConvolutionLoops &loops);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_CONVOLUTIONS_FORM_H
