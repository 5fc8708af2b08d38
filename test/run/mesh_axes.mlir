// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,2]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Ranks 0 … 3 are (0, 0), (0, 1), (1, 0), (1, 1) on the mesh. Rank r holds [2r, 2r + 1].

coll.mesh @m ["a" = 2, "b" = 2]

#rows = #coll.sharding<@m, [["a", "b"], []]>

func.func @step(
    %x: tensor<1x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>})
    -> (tensor<1x2xf32> {coll.name = "along_a", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "along_b", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x8xf32> {coll.name = "both", coll.sharding = #rows, coll.global_type = tensor<4x8xf32>},
        tensor<1x8xf32> {coll.name = "both_swapped", coll.sharding = #rows, coll.global_type = tensor<4x8xf32>}) {
  coll.barrier over @m["a", "b"]
  %a = coll.all_reduce sum %x over @m["a"] : tensor<1x2xf32>
  %b = coll.all_reduce sum %x over @m["b"] : tensor<1x2xf32>
  %both = coll.all_gather %x dim 1 over @m["a", "b"] : tensor<1x2xf32> -> tensor<1x8xf32>
  %swapped = coll.all_gather %x dim 1 over @m["b", "a"] : tensor<1x2xf32> -> tensor<1x8xf32>
  return %a, %b, %both, %swapped
      : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x8xf32>, tensor<1x8xf32>
}

// CHECK: along_a: f32[4, 2] = {{\[\[}}4, 6], [8, 10], [4, 6], [8, 10]]
// CHECK: along_b: f32[4, 2] = {{\[\[}}2, 4], [2, 4], [10, 12], [10, 12]]
// CHECK: both: f32[4, 8] = {{\[\[}}0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]]
// CHECK: both_swapped: f32[4, 8] = {{\[\[}}0, 1, 4, 5, 2, 3, 6, 7], [0, 1, 4, 5, 2, 3, 6, 7], [0, 1, 4, 5, 2, 3, 6, 7], [0, 1, 4, 5, 2, 3, 6, 7]]
