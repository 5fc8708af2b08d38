// RUN: coll-opt %s | coll-opt | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK: coll.fused_gemm "bias" %{{.+}}, %{{.+}} with %{{.+}} mnk [4, 5, 6] lds [6, 5, 5] : tensor<4x6xf64>, tensor<6x5xf64> with tensor<5xf64> to tensor<4x5xf64>
// CHECK: coll.fused_gemm "relu" %{{.+}}, %{{.+}} precision "high" trans_a trans_b mnk [6, 6, 4] lds [6, 4, 6] : tensor<4x6xf64>, tensor<6x4xf64> to tensor<6x6xf64>
func.func @forward(%a: tensor<4x6xf64>, %b: tensor<6x5xf64>, %bt: tensor<6x4xf64>, %bias: tensor<5xf64>)
    -> (tensor<4x5xf64>, tensor<6x6xf64>) {
  %r = coll.fused_gemm "bias" %a, %b with %bias mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xf64>, tensor<6x5xf64> with tensor<5xf64> to tensor<4x5xf64>
  %s = coll.fused_gemm "relu" %a, %bt precision "high" trans_a trans_b mnk [6, 6, 4] lds [6, 4, 6]
    : tensor<4x6xf64>, tensor<6x4xf64> to tensor<6x6xf64>
  return %r, %s : tensor<4x5xf64>, tensor<6x6xf64>
}

// CHECK-LABEL: func.func @gelu
// CHECK: %[[H:.+]], %[[X:.+]] = coll.fused_gemm "bias_gelu" {{.+}} with tensor<5xf32> to tensor<4x5xf32> keeps tensor<4x5xf32>
// CHECK: %{{.+}}, %{{.+}} = coll.fused_gemm "gelu_gradient" %{{.+}}, %{{.+}} with %[[X]] {{.+}} keeps tensor<5xf32>
func.func @gelu(%a: tensor<4x6xbf16>, %b: tensor<6x5xbf16>, %bias: tensor<5xf32>)
    -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<5xf32>) {
  %h, %x = coll.fused_gemm "bias_gelu" %a, %b with %bias mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xbf16>, tensor<6x5xbf16> with tensor<5xf32> to tensor<4x5xf32> keeps tensor<4x5xf32>
  %d, %sums = coll.fused_gemm "gelu_gradient" %a, %b with %x mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xbf16>, tensor<6x5xbf16> with tensor<4x5xf32> to tensor<4x5xf32> keeps tensor<5xf32>
  return %h, %d, %sums : tensor<4x5xf32>, tensor<4x5xf32>, tensor<5xf32>
}
