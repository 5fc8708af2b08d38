// RUN: coll-opt %s --coll-insert-reshards --coll-partition | FileCheck %s

// Both factors are partial: one of them is combined, and the product is partial as the other one is.

coll.mesh @m ["dp" = 4]

// CHECK-LABEL: func.func @step
// CHECK: %[[A:.*]] = linalg.reduce
// CHECK: %[[B:.*]] = linalg.reduce
// CHECK: %[[WHOLE:.*]] = coll.all_reduce sum %[[B]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[A]], %[[WHOLE]]
// CHECK: coll.all_reduce sum %[[PRODUCT]]
func.func @step(%x: tensor<12x8xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                %y: tensor<12x8xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
    -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) {
  %zero = arith.constant {coll.shardings = [#coll.sharding<@m, [[]]>]} dense<0.0> : tensor<8xf32>
  %a = linalg.reduce { arith.addf } ins(%x : tensor<12x8xf32>) outs(%zero : tensor<8xf32>)
     dimensions = [0] {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp"]>]}
  %b = linalg.reduce { arith.addf } ins(%y : tensor<12x8xf32>) outs(%zero : tensor<8xf32>)
     dimensions = [0] {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp"]>]}
  %product = arith.mulf %a, %b {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp"]>]}
     : tensor<8xf32>
  return %product : tensor<8xf32>
}
