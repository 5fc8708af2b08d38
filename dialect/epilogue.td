//===- epilogue.td - products that compute what follows them ---*- tablegen -*-===//
//
// Part of the specification, as ops.td; in a file of its own because few passes see it.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_EPILOGUE_TD
#define COLL_DIALECT_EPILOGUE_TD

include "dialect/base.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Coll_FusedGemmOp : Coll_Op<"fused_gemm", [Pure]> {
  let summary = "a matrix product and what follows it";
  let description = [{
    `C = f(op(A) * op(B))`, as `coll.gemm` without a batch. f applies to the sums, before they are
    rounded to the type of C: `"bias"` adds `with[j]` to column j; `"relu"` and `"gelu"` (with tanh)
    apply to each, after the bias in `"bias_relu"` and `"bias_gelu"`; `"gelu_gradient"` multiplies by
    the derivative of gelu at `with[i][j]`. The second result, if there is one, is the argument of
    gelu, or the sum of each column of its gradient.

    ```mlir
    %h, %x = coll.fused_gemm "bias_gelu" %a, %b with %bias mnk [4, 5, 6] lds [6, 5, 5]
       : tensor<4x6xf32>, tensor<6x5xf32> with tensor<5xf32> to tensor<4x5xf32> keeps tensor<4x5xf32>
    ```

    Constraints: (C1) elements are all f32 or all f64; or those of A and B are of one type, bf16 or
    f16, and all others of that type or f32. (C2) `mnk` and `lds` have three entries, all positive.
    (C3) no matrix reaches outside its operand. (C4) `precision` is highest or high. (C5) f is one of
    these, with a bias of n elements, with as many elements as C, or with nothing. (C6) only gelu,
    bias_gelu and gelu_gradient have a second result, of as many elements as C, or of n.
  }];
  let arguments = (ins StrAttr:$epilogue, Coll_Tensor:$a, Coll_Tensor:$b,
                       Optional<Coll_Tensor>:$with, OptionalAttr<StrAttr>:$precision,
                       UnitAttr:$trans_a, UnitAttr:$trans_b,
                       DenseI64ArrayAttr:$mnk, DenseI64ArrayAttr:$lds);
  let results = (outs Coll_Tensor:$result, Optional<Coll_Tensor>:$kept);
  let assemblyFormat = [{
    $epilogue $a `,` $b (`with` $with^)? (`precision` $precision^)? (`trans_a` $trans_a^)?
    (`trans_b` $trans_b^)? `mnk` $mnk `lds` $lds attr-dict
    `:` type($a) `,` type($b) (`with` type($with)^)? `to` type($result) (`keeps` type($kept)^)?
  }];
  let hasVerifier = 1;
}

#endif // COLL_DIALECT_EPILOGUE_TD
