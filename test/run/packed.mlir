// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,4]:iota
// RUN: coll-opt %s --coll-combine-collectives -o %t.mlir
// RUN: FileCheck %s --check-prefix=ONE --input-file=%t.mlir
// RUN: coll-run %t.mlir --data=%t.npz --print --quiet | FileCheck %s
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %t.mlir --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Two all_gathers as one, and two reduce_scatters: each tensor has the elements that its own call gives. Rank 0 has the
// rows from 0 and 4 on, rank 1 those from 8 and 12.

// ONE-COUNT-1: coll.all_gather
// ONE-NOT: coll.all_gather
// ONE-COUNT-1: coll.reduce_scatter
// ONE-NOT: coll.reduce_scatter

coll.mesh @m ["x" = 2]

#rows = #coll.sharding<@m, [["x"], []]>
#all = #coll.sharding<@m, [[], []]>

func.func @step(
    %x: tensor<2x4xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>})
    -> (tensor<4x4xf32> {coll.name = "gather0", coll.sharding = #all}, tensor<2x8xf32> {coll.name = "gather1", coll.sharding = #all},
        tensor<1x4xf32> {coll.name = "scatter0", coll.sharding = #rows, coll.global_type = tensor<2x4xf32>},
        tensor<2x2xf32> {coll.name = "scatter1", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>}) {
  %gather0 = coll.all_gather %x dim 0 over @m["x"] : tensor<2x4xf32> -> tensor<4x4xf32>
  %gather1 = coll.all_gather %x dim 1 over @m["x"] : tensor<2x4xf32> -> tensor<2x8xf32>
  %scatter0 = coll.reduce_scatter sum %x dim 0 over @m["x"] : tensor<2x4xf32> -> tensor<1x4xf32>
  %scatter1 = coll.reduce_scatter sum %x dim 1 over @m["x"] : tensor<2x4xf32> -> tensor<2x2xf32>
  return %gather0, %gather1, %scatter0, %scatter1 : tensor<4x4xf32>, tensor<2x8xf32>, tensor<1x4xf32>, tensor<2x2xf32>
}

// CHECK: gather0: f32[4, 4] = {{\[\[}}0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]
// CHECK: gather1: f32[2, 8] = {{\[\[}}0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]]
// CHECK: scatter0: f32[2, 4] = {{\[\[}}8, 10, 12, 14], [16, 18, 20, 22]]
// CHECK: scatter1: f32[4, 2] = {{\[\[}}8, 10], [16, 18], [12, 14], [20, 22]]
