// RUN: coll-opt %s --coll-lower-indexed --split-input-file --verify-diagnostics | FileCheck %s

// A splat operand becomes a constant of the body.

// CHECK-LABEL: func.func @elementwise
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>
// CHECK:       linalg.generic {{.*}}"parallel", "parallel"]} ins(%[[X]] : tensor<4x8xf32>)
// CHECK:         %[[TWO:.*]] = arith.constant 2.0{{.*}} : f32
// CHECK:         arith.mulf %{{.*}}, %[[TWO]] fastmath<contract> : f32
func.func @elementwise(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %two = arith.constant dense<2.0> : tensor<4x8xf32>
  %r = arith.mulf %x, %two fastmath<contract> : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @pad
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
// CHECK:       %[[FILLED:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<7xf32>)
// CHECK:       tensor.insert_slice %[[X]] into %[[FILLED]][1] [4] [1]
func.func @pad(%x: tensor<4xf32>) -> tensor<7xf32> {
  %r = tensor.pad %x low[1] high[2] {
  ^bb0(%i: index):
    %zero = arith.constant 0.0 : f32
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

// CHECK-LABEL: func.func @concat
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<2x4xf32>
// CHECK:       %[[FIRST:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 0] [2, 3] [1, 1]
// CHECK:       tensor.insert_slice %[[Y]] into %[[FIRST]][0, 3] [2, 4] [1, 1]
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<2x7xf32> {
  %r = tensor.concat dim(1) %x, %y : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  return %r : tensor<2x7xf32>
}

// -----

// The initial value of a reduction is filled, not read from a constant.

// CHECK-LABEL: func.func @reduction
// CHECK:       %[[FILLED:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<4xf32>)
// CHECK:       linalg.generic {{.*}} outs(%[[FILLED]] : tensor<4xf32>)
func.func @reduction(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}

// -----

func.func @negative_padding(%x: tensor<4xf32>, %v: f32) -> tensor<3xf32> {
  // expected-error @below {{cannot be lowered: needs one padding value and static, non-negative padding}}
  %r = tensor.pad %x low[-1] high[0] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<3xf32>
  return %r : tensor<3xf32>
}
