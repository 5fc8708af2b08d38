// RUN: coll-opt %s --coll-propagate --coll-insert-reshards --coll-partition | FileCheck %s

// Nothing but zeros is added to a sum of contributions: it stays one, and is combined behind.
// CHECK-LABEL: @step
// CHECK: %[[SUM:.*]] = linalg.reduce
// CHECK: %[[SAME:.*]] = coll.accumulate %{{.*}} into %[[SUM]]
// CHECK: coll.all_reduce sum %[[SAME]] over @m["dp"]
coll.mesh @m ["dp" = 2]
func.func @step(%x: tensor<6x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>}, %at: tensor<1xi32>)
    -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %nothing = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<6x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  %same = coll.accumulate %nothing into %sum[%at] inserted_dims [0] index_map [0] {
  ^bb0(%current: f32, %update: f32):
    %s = arith.addf %current, %update : f32
    coll.yield %s : f32
  } : tensor<f32>, tensor<4xf32>, tensor<1xi32>
  return %same : tensor<4xf32>
}
