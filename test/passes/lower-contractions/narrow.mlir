// RUN: coll-opt %s --coll-lower-indexed --coll-lower-contractions=narrow --split-input-file | FileCheck %s
// RUN: coll-opt %s --coll-lower-indexed --coll-lower-contractions --split-input-file | FileCheck %s --check-prefix=WIDE

// Factors of 16 bits are read as they are; sums that are rounded at once are written rounded, also
// through the transposition that follows.

#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>

// CHECK-LABEL: func.func @heads
// CHECK-SAME:    %[[P:.*]]: tensor<4x16x16xbf16>, %[[V:.*]]: tensor<4x16x8xbf16>
// CHECK-NOT:   linalg.generic
// CHECK:       %[[R:.*]] = coll.gemm %[[P]], %[[V]] into %{{.*}} mnk [16, 8, 16] lds [16, 8, 32]
// CHECK-SAME:    batch_sizes [4] batch_strides_a [256] batch_strides_b [128] batch_strides_c [8]
// CHECK-SAME:    : tensor<4x16x16xbf16>, tensor<4x16x8xbf16>, tensor<16x4x8xbf16>
// CHECK-NEXT:  return %[[R]]
// WIDE-LABEL: func.func @heads
// WIDE:        coll.gemm {{.*}} : tensor<4x16x16xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>
func.func @heads(%p: tensor<4x16x16xbf16>, %v: tensor<4x16x8xbf16>) -> tensor<16x4x8xbf16> {
  %zero = arith.constant dense<0.0> : tensor<4x16x8xf32>
  %sums = linalg.generic {indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<4x16x16xbf16>, tensor<4x16x8xbf16>) outs(%zero : tensor<4x16x8xf32>) {
  ^bb0(%x: bf16, %y: bf16, %acc: f32):
    %wx = arith.extf %x : bf16 to f32
    %wy = arith.extf %y : bf16 to f32
    %m = arith.mulf %wx, %wy : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x16x8xf32>
  %rounded = arith.truncf %sums : tensor<4x16x8xf32> to tensor<4x16x8xbf16>
  %e = tensor.empty() : tensor<16x4x8xbf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i, h, j) -> (h, i, j)>, affine_map<(i, h, j) -> (i, h, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%rounded : tensor<4x16x8xbf16>) outs(%e : tensor<16x4x8xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    linalg.yield %x : bf16
  } -> tensor<16x4x8xbf16>
  return %t : tensor<16x4x8xbf16>
}

// -----

// Sums that are read unrounded stay f32, as do those that an accumulation goes on with.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @sums
// CHECK:       %[[R:.*]] = coll.gemm {{.*}} precision "highest" accumulate {{.*}} : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>
// CHECK:       linalg.generic {{.*}} ins(%[[R]] : tensor<16x8xf32>)
// CHECK:       arith.truncf
func.func @sums(%p: tensor<16x32xf16>, %v: tensor<32x8xf16>, %old: tensor<16x8xf32>) -> tensor<16x8xf16> {
  %sums = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<16x32xf16>, tensor<32x8xf16>) outs(%old : tensor<16x8xf32>)
      attrs = {coll.precision = "highest"} {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %wx = arith.extf %x : f16 to f32
    %wy = arith.extf %y : f16 to f32
    %m = arith.mulf %wx, %wy : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  %rounded = arith.truncf %sums : tensor<16x8xf32> to tensor<16x8xf16>
  return %rounded : tensor<16x8xf16>
}

// -----

// Factors of two types are widened.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @mixed
// CHECK:       coll.gemm {{.*}} : tensor<16x32xf32>, tensor<32x8xf32>, tensor<16x8xf32>
func.func @mixed(%p: tensor<16x32xf16>, %v: tensor<32x8xf32>) -> tensor<16x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %sums = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<16x32xf16>, tensor<32x8xf32>) outs(%zero : tensor<16x8xf32>) {
  ^bb0(%x: f16, %y: f32, %acc: f32):
    %wx = arith.extf %x : f16 to f32
    %m = arith.mulf %wx, %y : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<16x8xf32>
  return %sums : tensor<16x8xf32>
}
