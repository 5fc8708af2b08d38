// RUN: coll-opt %s --coll-lower-indexed --coll-lower-contractions --split-input-file | FileCheck %s

#batched_a = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#batched_b = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#batched_c = affine_map<(b, h, m, n, k) -> (b, h, m, n)>

// Attention heads are batch loops with strides; nothing is transposed in memory.

// CHECK-LABEL: func.func @attention_scores
// CHECK-SAME:    %[[Q:.*]]: tensor<2x16x4x8xf32>, %[[K:.*]]: tensor<2x16x4x8xf32>
// CHECK-NOT:   linalg.generic
// CHECK:       coll.gemm %[[Q]], %[[K]] into %{{.*}} trans_b mnk [16, 16, 8] lds [32, 32, 16]
// CHECK-SAME:    batch_sizes [2, 4] batch_strides_a [512, 8] batch_strides_b [512, 8] batch_strides_c [1024, 256]
func.func @attention_scores(%q: tensor<2x16x4x8xf32>, %k: tensor<2x16x4x8xf32>) -> tensor<2x4x16x16xf32> {
  %eq = tensor.empty() : tensor<2x4x16x8xf32>
  %qt = linalg.transpose ins(%q : tensor<2x16x4x8xf32>) outs(%eq : tensor<2x4x16x8xf32>) permutation = [0, 2, 1, 3]
  %ek = tensor.empty() : tensor<2x4x8x16xf32>
  %kt = linalg.transpose ins(%k : tensor<2x16x4x8xf32>) outs(%ek : tensor<2x4x8x16xf32>) permutation = [0, 2, 3, 1]
  %zero = arith.constant dense<0.0> : tensor<2x4x16x16xf32>
  %s = linalg.generic {indexing_maps = [#batched_a, #batched_b, #batched_c],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%qt, %kt : tensor<2x4x16x8xf32>, tensor<2x4x8x16xf32>) outs(%zero : tensor<2x4x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x4x16x16xf32>
  return %s : tensor<2x4x16x16xf32>
}

// -----

// The result is written transposed: operands exchange their places.

// CHECK-LABEL: func.func @transposed_result
// CHECK-SAME:    %[[A:.*]]: tensor<16x64xf32>, %[[B:.*]]: tensor<64x32xf32>
// CHECK-NOT:   linalg.generic
// CHECK:       %[[C:.*]] = coll.gemm %[[B]], %[[A]] into %{{.*}} trans_a trans_b mnk [32, 16, 64] lds [32, 64, 16]
// CHECK:       return %[[C]] : tensor<32x16xf32>
func.func @transposed_result(%a: tensor<16x64xf32>, %b: tensor<64x32xf32>) -> tensor<32x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<16x64xf32>, tensor<64x32xf32>)
                     outs(%zero : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e = tensor.empty() : tensor<32x16xf32>
  %t = linalg.transpose ins(%c : tensor<16x32xf32>) outs(%e : tensor<32x16xf32>) permutation = [1, 0]
  return %t : tensor<32x16xf32>
}

// -----

// An initial value that is not zero is added to.

// CHECK-LABEL: func.func @accumulate
// CHECK-SAME:    %{{.*}}: tensor<16x16xf32>, %{{.*}}: tensor<16x16xf32>, %[[C:.*]]: tensor<16x16xf32>
// CHECK:       coll.gemm %{{.*}}, %{{.*}} into %[[C]] accumulate mnk [16, 16, 16]
func.func @accumulate(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>)
                     outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// Half-precision operands are widened before, the sum is in f32.

// CHECK-LABEL: func.func @bf16
// CHECK:       arith.extf %{{.*}} : bf16 to f32
// CHECK:       arith.extf %{{.*}} : bf16 to f32
// CHECK:       coll.gemm {{.*}} : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
func.func @bf16(%a: tensor<16x16xbf16>, %b: tensor<16x16xbf16>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = linalg.matmul ins(%a, %b : tensor<16x16xbf16>, tensor<16x16xbf16>)
                     outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// Too small for a call.

// CHECK-LABEL: func.func @small
// CHECK-NOT:   coll.gemm
// CHECK:       linalg.generic
func.func @small(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>)
                     outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
