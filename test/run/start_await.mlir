// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,2]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank r holds [2r, 2r + 1]. Two operations are in flight at once.

coll.mesh @m ["x" = 4]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<1x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>})
    -> (tensor<1x2xf32> {coll.name = "sum", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "max", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>}) {
  %r0 = coll.start ins(%x : tensor<1x2xf32>) {
  ^bb0(%a: tensor<1x2xf32>):
    %s = coll.all_reduce sum %a over @m["x"] : tensor<1x2xf32>
    coll.yield %s : tensor<1x2xf32>
  } : !coll.future<tensor<1x2xf32>>
  %r1 = coll.start ins(%x : tensor<1x2xf32>) {
  ^bb0(%a: tensor<1x2xf32>):
    %s = coll.all_reduce max %a over @m["x"] : tensor<1x2xf32>
    coll.yield %s : tensor<1x2xf32>
  } : !coll.future<tensor<1x2xf32>>
  %sum = coll.await %r0 : !coll.future<tensor<1x2xf32>>
  %max = coll.await %r1 : !coll.future<tensor<1x2xf32>>
  return %sum, %max : tensor<1x2xf32>, tensor<1x2xf32>
}

// CHECK: sum: f32[4, 2] = {{\[\[}}12, 16], [12, 16], [12, 16], [12, 16]]
// CHECK: max: f32[4, 2] = {{\[\[}}6, 7], [6, 7], [6, 7], [6, 7]]
