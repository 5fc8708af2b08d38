//===- convolution.h - convolutions as an operation --------------------*- C++ -*-===//
//
// The operation that convolution.td declares, and what its verifier and that of the exec dialect
// have in common.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_CONVOLUTION_H
#define COLL_DIALECT_CONVOLUTION_H

#include "dialect/dialect.h"

#define GET_OP_CLASSES
#include "dialect/convolution_ops.h.inc"

namespace mlir::coll {

/// The values of `kind`.
inline constexpr llvm::StringLiteral kConvolutionForward = "forward";
inline constexpr llvm::StringLiteral kConvolutionData = "data";
inline constexpr llvm::StringLiteral kConvolutionFilter = "filter";

/// The attributes of a convolution.
struct ConvolutionShape {
  StringRef kind;
  ArrayRef<int64_t> sizes, input, window, output, strides, dilations, pads;

  template <typename Op>
  static ConvolutionShape of(Op op) {
    return {op.getKind(),   op.getSizes(),   op.getInput(),     op.getWindow(),
            op.getOutput(), op.getStrides(), op.getDilations(), op.getPads()};
  }

  /// The elements of x, w and y, where the attributes are valid.
  int64_t countX() const { return sizes[0] * sizes[1] * sizes[2] * product(input); }
  int64_t countW() const { return sizes[1] * sizes[2] * sizes[3] * product(window); }
  int64_t countY() const { return sizes[0] * sizes[1] * sizes[3] * product(output); }
  /// The elements of both operands and of the result.
  std::array<int64_t, 3> countElements() const;

private:
  static int64_t product(ArrayRef<int64_t> list);
};

/// Why these attributes are not those of a convolution; empty if they are.
std::string explainConvolution(const ConvolutionShape &shape);

/// Whether a convolution can be computed on elements of this type.
inline bool isConvolutionElement(Type type) {
  return type.isF32() || type.isF64() || type.isBF16() || type.isF16();
}

} // namespace mlir::coll

#endif // COLL_DIALECT_CONVOLUTION_H
