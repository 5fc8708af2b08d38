// RUN: coll-opt %s --coll-insert-reshards | FileCheck %s

// One user needs the sum whole, for a norm, another one a part of it, for an update: it is combined
// once, and sliced.

coll.mesh @m ["dp" = 4]

// CHECK-LABEL: func.func @step
// CHECK: %[[G:.*]] = linalg.reduce
// CHECK: %[[WHOLE:.*]] = coll.reshard %[[G]] from <@m, {{\[\[\]\]}}, partial sum ["dp"]> to <@m, {{\[\[\]\]}}>
// CHECK: %[[PART:.*]] = coll.reshard %[[WHOLE]] from <@m, {{\[\[\]\]}}> to <@m, {{\[\["dp"\]\]}}>
// CHECK: arith.mulf %[[WHOLE]], %[[WHOLE]]
// CHECK: arith.subf %{{.*}}, %[[PART]]
func.func @step(%w: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>},
                %x: tensor<12x8xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
    -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>},
        tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) {
  %zero = arith.constant {coll.shardings = [#coll.sharding<@m, [[]]>]} dense<0.0> : tensor<8xf32>
  %g = linalg.reduce { arith.addf } ins(%x : tensor<12x8xf32>) outs(%zero : tensor<8xf32>)
     dimensions = [0] {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp"]>]}
  %norm = arith.mulf %g, %g {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32>
  %next = arith.subf %w, %g {coll.shardings = [#coll.sharding<@m, [["dp"]]>]} : tensor<8xf32>
  return %next, %norm : tensor<8xf32>, tensor<8xf32>
}
