// RUN: coll-opt %s --coll-propagate --coll-insert-reshards --coll-partition | FileCheck %s

coll.mesh @m ["dp" = 4]

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.*]]: tensor<2x6xf32> {coll.global_type = tensor<8x6xf32>
// CHECK-SAME: -> (tensor<6xf32> {coll.global_type = tensor<6xf32>
func.func @step(%x: tensor<8x6xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
    -> tensor<6xf32> {
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<6xf32>
  %zero = arith.constant dense<0.0> : tensor<6xf32>
  // CHECK: %[[LOCAL:.*]] = linalg.reduce {{.*}} ins(%[[X]] : tensor<2x6xf32>) outs(%[[ZERO]] : tensor<6xf32>)
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8x6xf32>) outs(%zero : tensor<6xf32>)
                     dimensions = [0]
  // CHECK: %[[SUM:.*]] = coll.all_reduce sum %[[LOCAL]] over @m["dp"]
  // CHECK: return %[[SUM]]
  return %s : tensor<6xf32>
}
