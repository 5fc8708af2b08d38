// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[8704,1]:1 batch_0_1=f4[8704,4]:1
// RUN: coll-run %s --ranks=1 --state-args=0 --data=%t.npz --print --quiet | FileCheck %s

// A temporary of 303 MB lies before others: their places do not fit in 29 bits, which is what an
// index of LLVM's getelementptr has as a constant of MLIR.

func.func @main(%x: tensor<8704x1xf32>, %v: tensor<8704x4xf32>) -> tensor<f32> {
  %table = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<8704x1xf32>, tensor<8704x1xf32>) -> tensor<8704x8704xf32>
  %q = "stablehlo.dot_general"(%table, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8704x8704xf32>, tensor<8704x4xf32>) -> tensor<8704x4xf32>
  %back = "stablehlo.dot_general"(%table, %q) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<8704x8704xf32>, tensor<8704x4xf32>) -> tensor<8704x4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %most = "stablehlo.reduce"(%back, %zero) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%p: tensor<f32>, %r: tensor<f32>):
    %s = "stablehlo.maximum"(%p, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<8704x4xf32>, tensor<f32>) -> tensor<f32>
  return %most : tensor<f32>
}

// CHECK: result_0: f32[] = 75759616
