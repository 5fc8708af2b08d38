// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,4]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank 0 holds rows [0 … 3] and [4 … 7], rank 1 the rows after; they add up to [8, 10, 12, 14] and
// [16, 18, 20, 22].

coll.mesh @m ["x" = 2]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<2x4xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>})
    -> (tensor<1x4xf32> {coll.name = "dim0", coll.sharding = #rows, coll.global_type = tensor<2x4xf32>},
        tensor<2x2xf32> {coll.name = "dim1", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<2x2xf32> {coll.name = "max", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>}) {
  %dim0 = coll.reduce_scatter sum %x dim 0 over @m["x"] : tensor<2x4xf32> -> tensor<1x4xf32>
  %dim1 = coll.reduce_scatter sum %x dim 1 over @m["x"] order rank : tensor<2x4xf32> -> tensor<2x2xf32>
  %max = coll.reduce_scatter max %x dim 1 over @m["x"] : tensor<2x4xf32> -> tensor<2x2xf32>
  return %dim0, %dim1, %max : tensor<1x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK: dim0: f32[2, 4] = {{\[\[}}8, 10, 12, 14], [16, 18, 20, 22]]
// CHECK: dim1: f32[4, 2] = {{\[\[}}8, 10], [16, 18], [12, 14], [20, 22]]
// CHECK: max: f32[4, 2] = {{\[\[}}8, 9], [12, 13], [10, 11], [14, 15]]
