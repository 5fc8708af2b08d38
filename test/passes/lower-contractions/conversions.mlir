// RUN: coll-opt %s --coll-lower-indexed --coll-lower-contractions=narrow --split-input-file | FileCheck %s
// RUN: coll-opt %s --coll-lower-indexed --coll-lower-contractions --split-input-file | FileCheck %s --check-prefix=WIDE

// The table is converted where it lies: the product reads it transposed. Without narrow factors it stays as it was.

#t = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i, j)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @logits
// CHECK-SAME:    %[[X:.*]]: tensor<32x16xbf16>, %[[TABLE:.*]]: tensor<64x16xf32>
// CHECK:       %[[NARROW:.*]] = linalg.generic {{.*}} ins(%[[TABLE]] : tensor<64x16xf32>) outs(%{{.*}} : tensor<64x16xbf16>)
// CHECK:         arith.truncf
// CHECK-NOT:   linalg.generic
// CHECK:       coll.gemm %[[X]], %[[NARROW]] into %{{.*}} trans_b mnk [32, 64, 16] lds [16, 16, 64]
// WIDE-LABEL: func.func @logits
// WIDE:        arith.truncf
func.func @logits(%x: tensor<32x16xbf16>, %table: tensor<64x16xf32>) -> tensor<32x64xbf16> {
  %e = tensor.empty() : tensor<16x64xf32>
  %transposed = linalg.generic {indexing_maps = [#t, #i], iterator_types = ["parallel", "parallel"]}
      ins(%table : tensor<64x16xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<16x64xf32>
  %narrow = arith.truncf %transposed : tensor<16x64xf32> to tensor<16x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %sums = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %narrow : tensor<32x16xbf16>, tensor<16x64xbf16>) outs(%zero : tensor<32x64xf32>) {
  ^bb0(%l: bf16, %r: bf16, %acc: f32):
    %wl = arith.extf %l : bf16 to f32
    %wr = arith.extf %r : bf16 to f32
    %m = arith.mulf %wl, %wr : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<32x64xf32>
  %rounded = arith.truncf %sums : tensor<32x64xf32> to tensor<32x64xbf16>
  return %rounded : tensor<32x64xbf16>
}

// -----

// Two transpositions around a conversion: the product writes its rounded sums as the second one leaves them.

#t = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i, j)>
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @gradient
// CHECK-SAME:    %[[G:.*]]: tensor<32x64xbf16>, %[[X:.*]]: tensor<32x16xbf16>
// CHECK-NOT:   linalg.generic
// CHECK:       %[[D:.*]] = coll.gemm %[[G]], %[[X]] into %{{.*}} trans_a mnk [64, 16, 32] lds [64, 16, 16]
// CHECK:       %[[F32:.*]] = linalg.generic {{.*}} ins(%[[D]] : tensor<64x16xbf16>) outs(%{{.*}} : tensor<64x16xf32>)
// CHECK:         arith.extf
// CHECK:       return %[[F32]]
func.func @gradient(%g: tensor<32x64xbf16>, %x: tensor<32x16xbf16>) -> tensor<64x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %sums = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %x : tensor<32x64xbf16>, tensor<32x16xbf16>) outs(%zero : tensor<64x16xf32>) {
  ^bb0(%l: bf16, %r: bf16, %acc: f32):
    %wl = arith.extf %l : bf16 to f32
    %wr = arith.extf %r : bf16 to f32
    %m = arith.mulf %wl, %wr : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x16xf32>
  %rounded = arith.truncf %sums : tensor<64x16xf32> to tensor<64x16xbf16>
  %e = tensor.empty() : tensor<16x64xbf16>
  %transposed = linalg.generic {indexing_maps = [#t, #i], iterator_types = ["parallel", "parallel"]}
      ins(%rounded : tensor<64x16xbf16>) outs(%e : tensor<16x64xbf16>) {
  ^bb0(%v: bf16, %o: bf16):
    linalg.yield %v : bf16
  } -> tensor<16x64xbf16>
  %wide = arith.extf %transposed : tensor<16x64xbf16> to tensor<16x64xf32>
  %f = tensor.empty() : tensor<64x16xf32>
  %back = linalg.generic {indexing_maps = [#t, #i], iterator_types = ["parallel", "parallel"]}
      ins(%wide : tensor<16x64xf32>) outs(%f : tensor<64x16xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<64x16xf32>
  return %back : tensor<64x16xf32>
}
