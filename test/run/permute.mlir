// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,2]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank r holds [2r, 2r + 1]. A rank to which nobody sends gets zeros.

coll.mesh @m ["x" = 4]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<1x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>})
    -> (tensor<1x2xf32> {coll.name = "ring", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "shift", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "wrapped", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "line", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>}) {
  %ring = coll.permute %x pairs [[0, 1], [1, 2], [2, 3], [3, 0]] over @m["x"] : tensor<1x2xf32>
  %line = coll.permute %x pairs [[0, 1], [2, 2]] over @m["x"] : tensor<1x2xf32>
  %shift = coll.permute %x shift -2 over @m["x"] : tensor<1x2xf32>
  %wrapped = coll.permute %x shift -1 wraps over @m["x"] : tensor<1x2xf32>
  return %ring, %shift, %wrapped, %line : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
}

// CHECK: ring: f32[4, 2] = {{\[\[}}6, 7], [0, 1], [2, 3], [4, 5]]
// CHECK: shift: f32[4, 2] = {{\[\[}}4, 5], [6, 7], [0, 0], [0, 0]]
// CHECK: wrapped: f32[4, 2] = {{\[\[}}2, 3], [4, 5], [6, 7], [0, 1]]
// CHECK: line: f32[4, 2] = {{\[\[}}0, 0], [0, 1], [4, 5], [0, 0]]
