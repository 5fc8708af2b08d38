// RUN: coll-opt %s --coll-lower-indexed --coll-lower-contractions | FileCheck %s

// The gradient of a weight: the transposed activation is read in place.

// CHECK-LABEL: func.func @weight_gradient
// CHECK-SAME:    %[[X:.*]]: tensor<16x64xf32>, %[[DY:.*]]: tensor<16x32xf32>
func.func @weight_gradient(%x: tensor<16x64xf32>, %dy: tensor<16x32xf32>) -> tensor<64x32xf32> {
  // CHECK: %[[DW:.*]] = coll.gemm %[[X]], %[[DY]] into %{{.*}} trans_a mnk [64, 32, 16] lds [64, 32, 32]
  // CHECK: return %[[DW]]
  %e = tensor.empty() : tensor<64x16xf32>
  %xt = linalg.transpose ins(%x : tensor<16x64xf32>) outs(%e : tensor<64x16xf32>) permutation = [1, 0]
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %dw = linalg.matmul ins(%xt, %dy : tensor<64x16xf32>, tensor<16x32xf32>)
                      outs(%zero : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %dw : tensor<64x32xf32>
}
