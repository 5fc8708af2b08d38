// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,2]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank 0 holds [[0, 1], [2, 3]], rank 1 [[4, 5], [6, 7]]. Along dimension 1 the blocks of the ranks interleave by rows.

coll.mesh @m ["x" = 2]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<2x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>})
    -> (tensor<4x2xf32> {coll.name = "dim0", coll.sharding = #rows, coll.global_type = tensor<8x2xf32>},
        tensor<2x4xf32> {coll.name = "dim1", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>},
        tensor<4x2xf32> {coll.name = "reversed", coll.sharding = #rows, coll.global_type = tensor<8x2xf32>}) {
  %dim0 = coll.all_gather %x dim 0 over @m["x"] : tensor<2x2xf32> -> tensor<4x2xf32>
  %dim1 = coll.all_gather %x dim 1 over @m["x"] : tensor<2x2xf32> -> tensor<2x4xf32>
  %reversed = coll.all_gather %x dim 0 over [[1, 0]] : tensor<2x2xf32> -> tensor<4x2xf32>
  return %dim0, %dim1, %reversed : tensor<4x2xf32>, tensor<2x4xf32>, tensor<4x2xf32>
}

// CHECK: dim0: f32[8, 2] = {{\[\[}}0, 1], [2, 3], [4, 5], [6, 7], [0, 1], [2, 3], [4, 5], [6, 7]]
// CHECK: dim1: f32[4, 4] = {{\[\[}}0, 1, 4, 5], [2, 3, 6, 7], [0, 1, 4, 5], [2, 3, 6, 7]]
// CHECK: reversed: f32[8, 2] = {{\[\[}}4, 5], [6, 7], [0, 1], [2, 3], [4, 5], [6, 7], [0, 1], [2, 3]]
