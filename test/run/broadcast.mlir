// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,2]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank r holds [2r, 2r + 1].

coll.mesh @m ["x" = 4]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<1x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>})
    -> (tensor<1x2xf32> {coll.name = "all", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "pairs", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>}) {
  %all = coll.broadcast %x from 2 over @m["x"] : tensor<1x2xf32>
  %pairs = coll.broadcast %x from 1 over [[0, 3], [2, 1]] : tensor<1x2xf32>
  return %all, %pairs : tensor<1x2xf32>, tensor<1x2xf32>
}

// CHECK: all: f32[4, 2] = {{\[\[}}4, 5], [4, 5], [4, 5], [4, 5]]
// CHECK: pairs: f32[4, 2] = {{\[\[}}6, 7], [2, 3], [2, 3], [6, 7]]
