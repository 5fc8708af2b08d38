// RUN: coll-opt %s --coll-lower-indexed --coll-fuse-kernels | FileCheck %s

// Momentum: the velocity and the parameter come from one loop nest.

// CHECK-LABEL: func.func @momentum
// CHECK-SAME:    %[[P:.*]]: tensor<64xf32>, %[[V:.*]]: tensor<64xf32>, %[[G:.*]]: tensor<64xf32>
func.func @momentum(%p: tensor<64xf32>, %v: tensor<64xf32>, %g: tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>) {
  // CHECK:     %[[BOTH:.*]]:2 = linalg.generic
  // CHECK:       %[[VELOCITY:.*]] = arith.addf
  // CHECK:       %[[PARAMETER:.*]] = arith.subf
  // CHECK:       linalg.yield %[[VELOCITY]], %[[PARAMETER]]
  // CHECK-NOT: linalg.generic
  // CHECK:     return %[[BOTH]]#1, %[[BOTH]]#0
  %mu = arith.constant dense<0.9> : tensor<64xf32>
  %rate = arith.constant dense<0.1> : tensor<64xf32>
  %old = arith.mulf %v, %mu : tensor<64xf32>
  %velocity = arith.addf %old, %g : tensor<64xf32>
  %change = arith.mulf %velocity, %rate : tensor<64xf32>
  %parameter = arith.subf %p, %change : tensor<64xf32>
  return %parameter, %velocity : tensor<64xf32>, tensor<64xf32>
}
