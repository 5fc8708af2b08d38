//===- convolution.td - convolutions, which the runtime provides -*- tablegen -*-===//
//
// Part of the specification, as ops.td; in a file of its own because few passes see it.
//
//   y[n][o][g][f] = sum over p, c of x[n][o * stride + p * dilation - pad][g][c] * w[g][f][p][c]
//
// where x is zero outside. All three are dense: x is [batch][input][groups][channels], w
// [groups][features][window][channels], y [batch][output][groups][features]; channels and features are
// those of one group.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_CONVOLUTION_TD
#define COLL_DIALECT_CONVOLUTION_TD

include "dialect/base.td"
include "dialect/convolution_sizes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Coll_ConvolutionOp : Coll_Op<"convolution", [Pure]> {
  let summary = "a convolution or one of its gradients";
  let description = [{
    `kind` says which tensor is the result: `"forward"` computes y from x and w, `"data"` x from y and
    w, `"filter"` w from x and y. The operands are dense in the order of convolution.td, whatever
    their shape. `sizes` is `[batch, groups, channels, features]`; the other lists have one entry
    for each spatial dimension, and `pads` says how far windows reach over x's beginning. `precision`
    is that of the products, as for `coll.gemm`.

    ```mlir
    %y = coll.convolution "forward" %x, %w sizes [2, 1, 3, 8] input [9, 9] window [3, 3] output [5, 5]
       strides [2, 2] dilations [1, 1] pads [1, 1]
       : tensor<2x9x9x3xf32>, tensor<8x3x3x3xf32> -> tensor<2x5x5x8xf32>
    ```

    Constraints: (C1) elements are of one type: f32, f64, bf16 or f16. (C2) the kind is forward, data
    or filter. (C3) `sizes` has four entries, the other lists one to three, all as many; pads are not
    negative, and all else is at least 1. (C4) operands and result have as many elements as the sizes
    say. (C5) precision is highest or high.
  }];
  let arguments = !con((ins Coll_Tensor:$a, Coll_Tensor:$b), Coll_ConvolutionOf.sizes);
  let results = (outs Coll_Tensor:$result);
  let assemblyFormat = [{
    $kind $a `,` $b (`precision` $precision^)? `sizes` $sizes `input` $input `window` $window
    `output` $output `strides` $strides `dilations` $dilations `pads` $pads
    attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // COLL_DIALECT_CONVOLUTION_TD
