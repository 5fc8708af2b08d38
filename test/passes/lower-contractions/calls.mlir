// RUN: coll-opt %s --coll-lower-indexed --coll-lower-contractions=narrow --split-input-file | FileCheck %s

#batched_a = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#batched_b = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#batched_c = affine_map<(b, h, m, n, k) -> (b, h, m, n)>

// On a GPU the heads of a small batch are packed, so that they are the batch of one call.

// CHECK-LABEL: func.func @small
// CHECK-COUNT-2: linalg.generic
// CHECK:       coll.gemm {{.*}} mnk [16, 16, 8] {{.*}} batch_sizes [32] batch_strides_a [128] batch_strides_b [128] batch_strides_c [256]
func.func @small(%q: tensor<8x16x4x8xf32>, %k: tensor<8x16x4x8xf32>) -> tensor<8x4x16x16xf32> {
  %eq = tensor.empty() : tensor<8x4x16x8xf32>
  %qt = linalg.transpose ins(%q : tensor<8x16x4x8xf32>) outs(%eq : tensor<8x4x16x8xf32>) permutation = [0, 2, 1, 3]
  %ek = tensor.empty() : tensor<8x4x8x16xf32>
  %kt = linalg.transpose ins(%k : tensor<8x16x4x8xf32>) outs(%ek : tensor<8x4x8x16xf32>) permutation = [0, 2, 3, 1]
  %zero = arith.constant dense<0.0> : tensor<8x4x16x16xf32>
  %s = linalg.generic {indexing_maps = [#batched_a, #batched_b, #batched_c],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%qt, %kt : tensor<8x4x16x8xf32>, tensor<8x4x8x16xf32>) outs(%zero : tensor<8x4x16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<8x4x16x16xf32>
  return %s : tensor<8x4x16x16xf32>
}

// -----

#batched_a = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#batched_b = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#batched_c = affine_map<(b, h, m, n, k) -> (b, h, m, n)>

// Large matrices are read where they are: copying them would take longer than the calls.

// CHECK-LABEL: func.func @large
// CHECK-NOT:   linalg.generic
// CHECK:       coll.gemm {{.*}} batch_sizes [2, 12]
func.func @large(%q: tensor<2x1024x12x64xf32>, %k: tensor<2x1024x12x64xf32>) -> tensor<2x12x1024x1024xf32> {
  %eq = tensor.empty() : tensor<2x12x1024x64xf32>
  %qt = linalg.transpose ins(%q : tensor<2x1024x12x64xf32>) outs(%eq : tensor<2x12x1024x64xf32>) permutation = [0, 2, 1, 3]
  %ek = tensor.empty() : tensor<2x12x64x1024xf32>
  %kt = linalg.transpose ins(%k : tensor<2x1024x12x64xf32>) outs(%ek : tensor<2x12x64x1024xf32>) permutation = [0, 2, 3, 1]
  %zero = arith.constant dense<0.0> : tensor<2x12x1024x1024xf32>
  %s = linalg.generic {indexing_maps = [#batched_a, #batched_b, #batched_c],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%qt, %kt : tensor<2x12x1024x64xf32>, tensor<2x12x64x1024xf32>) outs(%zero : tensor<2x12x1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x12x1024x1024xf32>
  return %s : tensor<2x12x1024x1024xf32>
}

// -----

#dots_a = affine_map<(b, h, d) -> (b, h, d)>
#dots_c = affine_map<(b, h, d) -> (b, h)>

// Many products of two vectors stay a loop nest: the library would compute a tile for each.

// CHECK-LABEL: func.func @dots
// CHECK-NOT:   coll.gemm
// CHECK:       linalg.generic
func.func @dots(%a: tensor<4096x32x64xf32>, %b: tensor<4096x32x64xf32>) -> tensor<4096x32xf32> {
  %zero = arith.constant dense<0.0> : tensor<4096x32xf32>
  %s = linalg.generic {indexing_maps = [#dots_a, #dots_a, #dots_c],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4096x32x64xf32>, tensor<4096x32x64xf32>) outs(%zero : tensor<4096x32xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %m = arith.mulf %x, %y : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<4096x32xf32>
  return %s : tensor<4096x32xf32>
}
