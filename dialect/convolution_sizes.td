//===- convolution_sizes.td - attributes of a convolution --------*- tablegen -*-===//

#ifndef COLL_DIALECT_CONVOLUTION_SIZES_TD
#define COLL_DIALECT_CONVOLUTION_SIZES_TD

include "mlir/IR/OpBase.td"

/// Attributes of a convolution, on tensors and on views.
def Coll_ConvolutionOf {
  dag sizes = (ins StrAttr:$kind, OptionalAttr<StrAttr>:$precision,
                   DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$input, DenseI64ArrayAttr:$window,
                   DenseI64ArrayAttr:$output, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads);
}

#endif // COLL_DIALECT_CONVOLUTION_SIZES_TD
