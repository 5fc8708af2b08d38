// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,4]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank 0 holds the rows [0 … 3] and [4 … 7], rank 1 [8 … 11] and [12 … 15].

coll.mesh @m ["x" = 2]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<2x4xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>})
    -> (tensor<2x4xf32> {coll.name = "rows", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>},
        tensor<1x8xf32> {coll.name = "rows_to_columns", coll.sharding = #rows, coll.global_type = tensor<2x8xf32>},
        tensor<4x2xf32> {coll.name = "columns_to_rows", coll.sharding = #rows, coll.global_type = tensor<8x2xf32>},
        tensor<2x4xf32> {coll.name = "columns", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>}) {
  %rows = coll.all_to_all %x split 0 concat 0 over @m["x"] : tensor<2x4xf32> -> tensor<2x4xf32>
  %a = coll.all_to_all %x split 0 concat 1 over @m["x"] : tensor<2x4xf32> -> tensor<1x8xf32>
  %b = coll.all_to_all %x split 1 concat 0 over @m["x"] : tensor<2x4xf32> -> tensor<4x2xf32>
  %columns = coll.all_to_all %x split 1 concat 1 over @m["x"] : tensor<2x4xf32> -> tensor<2x4xf32>
  return %rows, %a, %b, %columns
      : tensor<2x4xf32>, tensor<1x8xf32>, tensor<4x2xf32>, tensor<2x4xf32>
}

// CHECK: rows: f32[4, 4] = {{\[\[}}0, 1, 2, 3], [8, 9, 10, 11], [4, 5, 6, 7], [12, 13, 14, 15]]
// CHECK: rows_to_columns: f32[2, 8] = {{\[\[}}0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]]
// CHECK: columns_to_rows: f32[8, 2] = {{\[\[}}0, 1], [4, 5], [8, 9], [12, 13], [2, 3], [6, 7], [10, 11], [14, 15]]
// CHECK: columns: f32[4, 4] = {{\[\[}}0, 1, 8, 9], [4, 5, 12, 13], [2, 3, 10, 11], [6, 7, 14, 15]]
