// RUN: coll-opt %s --coll-propagate --coll-insert-reshards 2>/dev/null | FileCheck %s
// RUN: coll-opt %s --coll-propagate --coll-insert-reshards --coll-partition 2>/dev/null | FileCheck %s --check-prefix=SPMD

// A reshard says who needs it, what every plan sends, what was considered beside it, and how a gather is avoided after
// which all ranks do the same work. The collectives that it becomes say the same.

coll.mesh @m ["dp" = 4]

// CHECK-LABEL: @repeated
// CHECK: coll.reshard {{.*}} {coll.cause = {avoid = "--shard='x: [-]' keeps the argument whole along dp: no gather, and 24 bytes more a rank",
// CHECK-SAME: bound_bytes = 24 : i64, from = "[dp]", to = "[-]",
// CHECK-SAME: uses = [{loc = {{.*}}, needs = "[-]", op = "coll.sort"}]}
// SPMD-LABEL: @repeated
// SPMD: coll.all_gather {{.*}} {coll.cause = {avoid = "--shard='x: [-]'
func.func @repeated(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>, coll.name = "x"})
    -> tensor<8xf32> {
  %s = coll.sort %x dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<8xf32>
  return %s : tensor<8xf32>
}

// CHECK-LABEL: @summed
// CHECK: coll.reshard {{.*}} {coll.cause = {bound_bytes = 24 : i64, from = "[-], partial sum over dp",
// CHECK-SAME: runner_up = "reduce_scatter, then all_gather", runner_up_bytes = 24 : i64, to = "[-]",
// CHECK-SAME: why_not = "sends as many bytes in one call more"}
func.func @summed(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>}) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  %r = math.exp %sum : tensor<4xf32>
  return %r : tensor<4xf32>
}
