//===- convolution.td - convolutions on buffers -----------------*- tablegen -*-===//
//
// Part of the specification, as ops.td; in a file of its own because few passes see it.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_EXEC_CONVOLUTION_TD
#define COLL_DIALECT_EXEC_CONVOLUTION_TD

include "dialect/convolution_sizes.td"
include "dialect/exec/base.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Exec_RuntimeOp<string mnemonic> : Op<Exec_Dialect, mnemonic>;

def Exec_ConvolutionOp : Exec_RuntimeOp<"convolution"> {
  let summary = "a convolution or one of its gradients by the runtime";
  let description = [{
    As `coll.convolution`, on views; `of` names the type of the elements, and `precision` says what
    f32 factors may be rounded to, as for `exec.gemm`.

    ```mlir
    exec.convolution "forward" %x, %w into %y of bf16 sizes [2, 1, 3, 8] input [9, 9] window [3, 3]
      output [5, 5] strides [2, 2] dilations [1, 1] pads [1, 1]
    ```

    Constraints: (C1) elements are f32, f64, bf16 or f16, and the precision is highest, tf32 or bf16.
    (C2), (C3) as for `coll.convolution`. (C4) views have as many elements as the sizes say. (C5) the
    result is not read only, and overlaps no operand.
  }];
  let arguments = !con((ins Arg<Exec_BufferType, "", [MemRead]>:$a,
                            Arg<Exec_BufferType, "", [MemRead]>:$b,
                            Arg<Exec_BufferType, "", [MemWrite]>:$result, TypeAttr:$element),
                       Coll_ConvolutionOf.sizes);
  let assemblyFormat = [{
    $kind $a `,` $b `into` $result `of` $element (`precision` $precision^)? `sizes` $sizes
    `input` $input `window` $window `output` $output `strides` $strides `dilations` $dilations
    `pads` $pads attr-dict
  }];
  let hasVerifier = 1;
}

#endif // COLL_DIALECT_EXEC_CONVOLUTION_TD
