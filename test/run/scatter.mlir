// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[6,2]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank r holds rows 3r … 3r + 2 of the numbers from 0 to 11; rank i gets column i of the
// root's.

coll.mesh @m ["x" = 2]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<3x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<6x2xf32>})
    -> (tensor<3x1xf32> {coll.name = "columns", coll.sharding = #rows, coll.global_type = tensor<6x1xf32>}) {
  %columns = coll.scatter %x dim 1 from 1 over @m["x"] : tensor<3x2xf32> -> tensor<3x1xf32>
  return %columns : tensor<3x1xf32>
}

// CHECK: columns: f32[6, 1] = {{\[\[}}6], [8], [10], [7], [9], [11]]
