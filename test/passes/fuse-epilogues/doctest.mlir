// RUN: coll-opt %s --coll-lower-indexed --coll-fuse-epilogues --verify-diagnostics --split-input-file | FileCheck %s

// A layer with relu, whose result another product reads. Its gradient asks where the argument of relu
// was above zero: so is the result.

#row = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @relu
// CHECK-SAME: %[[X:.+]]: tensor<16x8xf32>, %[[W:.+]]: tensor<8x32xf32>, %[[B:.+]]: tensor<32xf32>, %[[V:.+]]: tensor<32x4xf32>
func.func @relu(%x: tensor<16x8xf32>, %w: tensor<8x32xf32>, %b: tensor<32xf32>, %v: tensor<32x4xf32>)
    -> (tensor<16x4xf32>, tensor<16x32xi1>) {
  // CHECK: %[[H:.+]] = coll.fused_gemm "bias_relu" %[[X]], %[[W]] with %[[B]] precision "highest" mnk [16, 32, 8] lds [8, 32, 32]
  // CHECK-NOT: linalg.generic
  // CHECK: %[[R:.+]] = coll.gemm %[[H]], %[[V]]
  // CHECK: linalg.generic {{.*}} ins(%[[H]] : tensor<16x32xf32>)
  // CHECK: arith.cmpf ogt
  // CHECK-NOT: linalg.generic
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %e = tensor.empty() : tensor<16x32xf32>
  // expected-remark@+1 {{1 products compute what follows them: 0 gelu, 0 its gradient, 0 with the sum of its columns, the others bias or relu}}
  %y = coll.gemm %x, %w into %e precision "highest" mnk [16, 32, 8] lds [8, 32, 32] : tensor<16x8xf32>, tensor<8x32xf32>, tensor<16x32xf32>
  %rows = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<32xf32>) outs(%e : tensor<16x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<16x32xf32>
  %s = arith.addf %y, %rows : tensor<16x32xf32>
  %h = arith.maximumf %s, %zero : tensor<16x32xf32>
  %re = tensor.empty() : tensor<16x4xf32>
  %r = coll.gemm %h, %v into %re mnk [16, 4, 32] lds [32, 4, 4] : tensor<16x32xf32>, tensor<32x4xf32>, tensor<16x4xf32>
  %mask = arith.cmpf ogt, %s, %zero : tensor<16x32xf32>
  return %r, %mask : tensor<16x4xf32>, tensor<16x32xi1>
}

// -----

// gelu keeps its argument for the gradient, which is written with (1 - t) (1 + t) and the sum of its
// columns here. Nothing else is left to compute.

#row = affine_map<(i, j, k) -> (k)>
#all = affine_map<(i, j, k) -> (i, j, k)>

// CHECK-LABEL: func.func @gelu
// CHECK-SAME: %[[X:.+]]: tensor<2x8x8xbf16>, %[[W:.+]]: tensor<8x32xbf16>, %[[B:.+]]: tensor<32xbf16>, %[[D:.+]]: tensor<2x8x4xbf16>, %[[V:.+]]: tensor<4x32xbf16>
func.func @gelu(%x: tensor<2x8x8xbf16>, %w: tensor<8x32xbf16>, %b: tensor<32xbf16>, %d: tensor<2x8x4xbf16>, %v: tensor<4x32xbf16>)
    -> (tensor<2x8x32xbf16>, tensor<2x8x32xbf16>, tensor<32xbf16>) {
  // CHECK: %[[H:.+]], %[[KEPT:.+]] = coll.fused_gemm "bias_gelu" %[[X]], %[[W]] with %[[B]] mnk [16, 32, 8]
  // CHECK-SAME: to tensor<2x8x32xbf16> keeps tensor<2x8x32xbf16>
  // CHECK: %[[G:.+]], %[[SUMS:.+]] = coll.fused_gemm "gelu_gradient" %[[D]], %[[V]] with %[[KEPT]] mnk [16, 32, 4]
  // CHECK-SAME: to tensor<2x8x32xbf16> keeps tensor<32xbf16>
  // CHECK-NOT: linalg.generic
  // CHECK: return %[[H]], %[[G]], %[[SUMS]]
  %half = arith.constant dense<5.0e-01> : tensor<2x8x32xbf16>
  %one = arith.constant dense<1.0> : tensor<2x8x32xbf16>
  %three = arith.constant dense<3.0> : tensor<2x8x32xbf16>
  %cubic = arith.constant dense<4.467770e-02> : tensor<2x8x32xbf16>
  %linear = arith.constant dense<7.968750e-01> : tensor<2x8x32xbf16>
  %e = tensor.empty() : tensor<2x8x32xbf16>
  // expected-remark@+1 {{2 products compute what follows them: 1 gelu, 1 its gradient, 1 with the sum of its columns, the others bias or relu}}
  %y = coll.gemm %x, %w into %e mnk [16, 32, 8] lds [8, 32, 32] : tensor<2x8x8xbf16>, tensor<8x32xbf16>, tensor<2x8x32xbf16>
  %rows = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : tensor<32xbf16>) outs(%e : tensor<2x8x32xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<2x8x32xbf16>
  %s = arith.addf %y, %rows : tensor<2x8x32xbf16>
  %square = arith.mulf %s, %s : tensor<2x8x32xbf16>
  %cube = arith.mulf %square, %s : tensor<2x8x32xbf16>
  %slope = arith.mulf %three, %square : tensor<2x8x32xbf16>
  %c = arith.mulf %cubic, %cube : tensor<2x8x32xbf16>
  %i = arith.addf %s, %c : tensor<2x8x32xbf16>
  %u = arith.mulf %linear, %i : tensor<2x8x32xbf16>
  %t = math.tanh %u : tensor<2x8x32xbf16>
  %plus = arith.addf %one, %t : tensor<2x8x32xbf16>
  %minus = arith.subf %one, %t : tensor<2x8x32xbf16>
  %dt = arith.mulf %plus, %minus : tensor<2x8x32xbf16>
  %cdf = arith.mulf %half, %plus : tensor<2x8x32xbf16>
  %h = arith.mulf %s, %cdf : tensor<2x8x32xbf16>
  %dh = coll.gemm %d, %v into %e mnk [16, 32, 4] lds [4, 32, 32] : tensor<2x8x4xbf16>, tensor<4x32xbf16>, tensor<2x8x32xbf16>
  %g0 = arith.mulf %s, %dh : tensor<2x8x32xbf16>
  %g1 = arith.mulf %dh, %cdf : tensor<2x8x32xbf16>
  %g2 = arith.mulf %half, %g0 : tensor<2x8x32xbf16>
  %g3 = arith.mulf %g2, %dt : tensor<2x8x32xbf16>
  %g4 = arith.mulf %linear, %g3 : tensor<2x8x32xbf16>
  %g5 = arith.addf %g1, %g4 : tensor<2x8x32xbf16>
  %g6 = arith.mulf %cubic, %g4 : tensor<2x8x32xbf16>
  %g7 = arith.mulf %g6, %slope : tensor<2x8x32xbf16>
  %g = arith.addf %g5, %g7 : tensor<2x8x32xbf16>
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %sums = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%g : tensor<2x8x32xbf16>) outs(%zeros : tensor<32xf32>) {
  ^bb0(%in: bf16, %acc: f32):
    %wide = arith.extf %in : bf16 to f32
    %sum = arith.addf %wide, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<32xf32>
  %rounded = arith.truncf %sums : tensor<32xf32> to tensor<32xbf16>
  return %h, %g, %rounded : tensor<2x8x32xbf16>, tensor<2x8x32xbf16>, tensor<32xbf16>
}
