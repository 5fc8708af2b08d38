// REQUIRES: coll-run

// RUN: coll-opt %s --coll-lower-indexed --coll-fuse-kernels --coll-outline-kernels --coll-fuse-updates -o %t.fused
// RUN: FileCheck %s < %t.fused
// RUN: coll-opt %t.fused --coll-to-exec --coll-verify-exec -o %t.exec
// RUN: coll-run %t.exec --steps=3 --check --against=%s --strict --rtol=0 --atol=0 | FileCheck %s --check-prefix=AGREE

// Updates side by side give what they give one by one, bit for bit, also where two of them read the same
// states, so that neither may be written in place, and where a scalar of the host is one of the operands.

// CHECK:       func.func @step
// CHECK:       call @updates_0
// CHECK-NOT:   call
// CHECK:       return
// AGREE: 4 of 4 within tolerance
func.func @step(%a: tensor<300xf32> {coll.role = "state"}, %b: tensor<300xf32> {coll.role = "state"},
                %n: tensor<i32> {coll.role = "state"}, %m: tensor<6x7xf32> {coll.role = "state"},
                %g: tensor<300xf32>, %h: tensor<42xf32>)
    -> (tensor<300xf32>, tensor<300xf32>, tensor<i32>, tensor<6x7xf32>) {
  %one = arith.constant dense<1> : tensor<i32>
  %rate = arith.constant dense<0.125> : tensor<300xf32>
  %decay = arith.constant dense<0.75> : tensor<6x7xf32>
  %step = arith.mulf %g, %rate : tensor<300xf32>
  %ahead = arith.subf %a, %step : tensor<300xf32>
  %new_a = arith.addf %ahead, %b : tensor<300xf32>
  %behind = arith.mulf %b, %rate : tensor<300xf32>
  %new_b = arith.subf %behind, %a : tensor<300xf32>
  %new_n = arith.addi %n, %one : tensor<i32>
  %kept = arith.mulf %m, %decay : tensor<6x7xf32>
  %flat = tensor.expand_shape %h [[0, 1]] output_shape [6, 7] : tensor<42xf32> into tensor<6x7xf32>
  %new_m = arith.addf %kept, %flat : tensor<6x7xf32>
  return %new_a, %new_b, %new_n, %new_m : tensor<300xf32>, tensor<300xf32>, tensor<i32>, tensor<6x7xf32>
}
