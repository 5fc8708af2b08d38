// RUN: coll-opt %s --coll-lower-indexed --coll-outline-kernels | FileCheck %s

// Two equal nests share one kernel, which may write over its input.

// CHECK-LABEL: func.func @step
// CHECK-SAME:    %[[X:.*]]: tensor<64xf32>, %[[Y:.*]]: tensor<64xf32>
func.func @step(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // CHECK: %[[DX:.*]] = tensor.empty() : tensor<64xf32>
  // CHECK: %[[RX:.*]] = call @kernel_0(%[[X]], %[[DX]])
  // CHECK: %[[DY:.*]] = tensor.empty() : tensor<64xf32>
  // CHECK: %[[RY:.*]] = call @kernel_0(%[[Y]], %[[DY]])
  // CHECK: return %[[RX]], %[[RY]]
  %a = math.tanh %x : tensor<64xf32>
  %b = math.tanh %y : tensor<64xf32>
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}

// CHECK:     func.func private @kernel_0(
// CHECK-SAME:  %[[IN:.*]]: tensor<64xf32> {coll.access = "read", coll.may_alias = array<i64: 0>},
// CHECK-SAME:  %[[OUT:.*]]: tensor<64xf32> {coll.access = "write"}) -> tensor<64xf32>
// CHECK:       linalg.generic {{.*}} ins(%[[IN]] : tensor<64xf32>) outs(%[[OUT]] : tensor<64xf32>)
// CHECK-NOT: func.func
