//===- attention.td - attention, which the runtime provides -----*- tablegen -*-===//
//
// Part of the specification, as ops.td; in a file of its own because few passes see it.
//
// Attention of one batch entry and head, with i < queries and j < keys:
//
//   s[i][j] = scale * (q[i] . k[j])    p = softmax of the rows of s    o = p v
//   lse[i] = log(sum over j of exp(s[i][j]))
//
// Its gradient, which computes p again from q, k and lse:
//
//   ds = p * (dO v^T - rowsum(o * dO))    dV = p^T dO    dQ = scale * ds k    dK = scale * ds^T q
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_ATTENTION_TD
#define COLL_DIALECT_ATTENTION_TD

include "dialect/base.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Coll_AttentionOp : Coll_Op<"attention", [Pure]> {
  let summary = "softmax(scale * Q K^T) V, without the matrix of scores in memory";
  let description = [{
    `sizes` is `[batch, heads, kv_heads, queries, keys, dim]`; head h reads head
    `h / (heads / kv_heads)` of K and V. A list after `at` says where a tensor has its elements, in
    an operand that is dense whatever its shape: the first element, and the strides of batch, heads
    and rows, in elements. Elements of a row are neighbours. `causal`: query i sees the keys
    `j <= i + keys - queries`. Sums and the softmax are in f32. `precision` is that of the
    contractions, as for `coll.gemm`.

    ```mlir
    %o, %lse = coll.attention %q at [0, 512, 256, 8], %k at [0, 512, 256, 8], %v at [0, 512, 256, 8]
       to [0, 512, 256, 8] sizes [3, 2, 2, 32, 32, 8] scale 1.250000e-01 causal
       : tensor<3x2x32x8xf32>, tensor<3x2x32x8xf32>, tensor<3x2x32x8xf32>
       -> tensor<3x2x32x8xf32>, tensor<3x2x32xf32>
    ```

    Constraints: (C1) q, k, v and o have one type of element: f32, bf16 or f16; lse is f32, with an
    element for each batch entry, head and query. (C2) sizes are six numbers, none below 1;
    kv_heads divides heads, dim is a multiple of 8 up to 128, and causal needs keys >= queries.
    (C3) places are four numbers each, none negative, that are multiples of 16 bytes. (C4) no tensor
    reaches outside its operand. (C5) precision is highest or high.
  }];
  let arguments = !con((ins Coll_Tensor:$q, Coll_Tensor:$k, Coll_Tensor:$v),
                       Coll_AttentionOf.sizes, Coll_AttentionOf.places);
  let results = (outs Coll_Tensor:$o, Coll_Tensor:$lse);
  let assemblyFormat = [{
    $q `at` $q_at `,` $k `at` $k_at `,` $v `at` $v_at `to` $o_at `sizes` $sizes `scale` $scale
    (`causal` $causal^)? (`precision` $precision^)? attr-dict
    `:` type($q) `,` type($k) `,` type($v) `->` type($o) `,` type($lse)
  }];
  let hasVerifier = 1;
}

def Coll_AttentionGradientOp : Coll_Op<"attention_gradient", [Pure]> {
  let summary = "the gradient of coll.attention with respect to Q, K and V";
  let description = [{
    `o` and `lse` are the results of a `coll.attention` of the same operands, `d_o` is the gradient
    of `o`. After `to` stand the places of the three results.

    ```mlir
    %dq, %dk, %dv = coll.attention_gradient %q at [0, 0, 64, 8], %k at [0, 0, 64, 8], %v at [0, 0, 64, 8],
       %o at [0, 0, 64, 8], %lse, %do at [0, 0, 64, 8] to [0, 0, 64, 8], [0, 0, 64, 8], [0, 0, 64, 8]
       sizes [1, 2, 2, 8, 8, 8] scale 1.000000e+00
       : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8xf32>,
         tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
    ```

    Constraints: (C1) to (C5) as for `coll.attention`; gradients have the type of what they are
    gradients of.
  }];
  let arguments = !con((ins Coll_Tensor:$q, Coll_Tensor:$k, Coll_Tensor:$v, Coll_Tensor:$o,
                            Coll_Tensor:$lse, Coll_Tensor:$d_o),
                       Coll_AttentionOf.sizes, Coll_AttentionOf.places,
                       Coll_AttentionOf.gradientPlaces);
  let results = (outs Coll_Tensor:$d_q, Coll_Tensor:$d_k, Coll_Tensor:$d_v);
  let assemblyFormat = [{
    $q `at` $q_at `,` $k `at` $k_at `,` $v `at` $v_at `,` $o `at` $o_at `,` $lse `,`
    $d_o `at` $d_o_at `to` $d_q_at `,` $d_k_at `,` $d_v_at `sizes` $sizes `scale` $scale
    (`causal` $causal^)? (`precision` $precision^)? attr-dict
    `:` type($q) `,` type($k) `,` type($v) `,` type($o) `,` type($lse) `,` type($d_o)
    `->` type($d_q) `,` type($d_k) `,` type($d_v)
  }];
  let hasVerifier = 1;
}

#endif // COLL_DIALECT_ATTENTION_TD
