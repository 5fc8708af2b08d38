// RUN: coll-opt %s --coll-lower-indexed --coll-fuse-kernels --coll-outline-kernels --coll-fuse-updates -o %t
// RUN: FileCheck %s < %t
// RUN: coll-opt %t --coll-kernels-to-gpu | FileCheck %s --check-prefix=LAUNCH

// Two biases and a counter are updated by one launch, each in its own place; a sum reads
// another new bias, which is not only returned.

// CHECK-LABEL: func.func @step
// CHECK-SAME:    %[[A:.*]]: tensor<300xf32>, %[[B:.*]]: tensor<7xf32>, %[[N:.*]]: tensor<i32>, %[[C:.*]]: tensor<16xf32>, %[[G:.*]]: tensor<300xf32>
// CHECK:       %[[D:.*]]:2 = call @kernel_0(%[[C]]
// CHECK:       %[[R:.*]]:3 = call @updates_0(%[[A]], %[[G]], %[[B]], %[[N]]
// CHECK:       return %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[D]]#0
// CHECK:       func.func private @updates_0(%{{.*}}: tensor<300xf32> {coll.access = "read", coll.may_alias = array<i64: 0>}
// CHECK-SAME:    attributes {updates}
// LAUNCH:      func.func private @updates_0
// LAUNCH-COUNT-1: gpu.launch_func
// LAUNCH-NOT:  gpu.launch_func
// LAUNCH:      return
func.func @step(%a: tensor<300xf32>, %b: tensor<7xf32>, %n: tensor<i32>, %c: tensor<16xf32>, %g: tensor<300xf32>)
    -> (tensor<300xf32>, tensor<7xf32>, tensor<i32>, tensor<16xf32>, tensor<f32>) {
  %one = arith.constant dense<1> : tensor<i32>
  %new_a = arith.subf %a, %g : tensor<300xf32>
  %new_b = arith.mulf %b, %b : tensor<7xf32>
  %new_n = arith.addi %n, %one : tensor<i32>
  %e = tensor.empty() : tensor<16xf32>
  %new_c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%c : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.tanh %x : f32
    linalg.yield %y : f32
  } -> tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce ins(%new_c : tensor<16xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%in: f32, %acc: f32) {
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    }
  return %new_a, %new_b, %new_n, %new_c, %sum : tensor<300xf32>, tensor<7xf32>, tensor<i32>, tensor<16xf32>, tensor<f32>
}
