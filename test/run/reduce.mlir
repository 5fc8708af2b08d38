// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,2]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank r holds [2r, 2r + 1]. The sum goes to rank 1; the others keep what they had.

coll.mesh @m ["x" = 4]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<1x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>})
    -> (tensor<1x2xf32> {coll.name = "sum", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "pairs", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>}) {
  %sum = coll.reduce sum %x to 1 over @m["x"] : tensor<1x2xf32>
  %pairs = coll.reduce max %x to 0 over [[1, 0], [3, 2]] order rank : tensor<1x2xf32>
  return %sum, %pairs : tensor<1x2xf32>, tensor<1x2xf32>
}

// CHECK: sum: f32[4, 2] = {{\[\[}}0, 1], [12, 16], [4, 5], [6, 7]]
// CHECK: pairs: f32[4, 2] = {{\[\[}}0, 1], [2, 3], [4, 5], [6, 7]]
