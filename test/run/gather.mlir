// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[3,2]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank r holds [2r, 2r + 1]. The root is rank 1; the others get zeros.

coll.mesh @m ["x" = 3]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<1x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<3x2xf32>})
    -> (tensor<3x2xf32> {coll.name = "dim0", coll.sharding = #rows, coll.global_type = tensor<9x2xf32>},
        tensor<1x6xf32> {coll.name = "dim1", coll.sharding = #rows, coll.global_type = tensor<3x6xf32>}) {
  %dim0 = coll.gather %x dim 0 to 1 over @m["x"] : tensor<1x2xf32> -> tensor<3x2xf32>
  %dim1 = coll.gather %x dim 1 to 0 over @m["x"] : tensor<1x2xf32> -> tensor<1x6xf32>
  return %dim0, %dim1 : tensor<3x2xf32>, tensor<1x6xf32>
}

// CHECK: dim0: f32[9, 2] = {{\[\[}}0, 0], [0, 0], [0, 0], [0, 1], [2, 3], [4, 5], [0, 0], [0, 0], [0, 0]]
// CHECK: dim1: f32[3, 6] = {{\[\[}}0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]
