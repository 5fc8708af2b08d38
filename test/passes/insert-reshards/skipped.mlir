// RUN: coll-opt %s --coll-insert-reshards --split-input-file | FileCheck %s

// A sum is pinned whole, and its only use takes a part: it is scattered, not reduced and cut.

coll.mesh @m ["sp" = 4]

// CHECK-LABEL: func.func @part
// CHECK: %[[G:.*]] = linalg.reduce
// CHECK-NEXT: %[[PART:.*]] = coll.reshard %[[G]] from <@m, {{\[\[\]\]}}, partial sum ["sp"]> to <@m, {{\[\["sp"\]\]}}>
// CHECK-NOT: coll.reshard
// CHECK: arith.subf %{{.*}}, %[[PART]]
func.func @part(%w: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>},
                %x: tensor<12x8xf32> {coll.sharding = #coll.sharding<@m, [["sp"], []]>})
    -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>}) {
  %zero = arith.constant {coll.shardings = [#coll.sharding<@m, [[]]>]} dense<0.0> : tensor<8xf32>
  %g = linalg.reduce { arith.addf } ins(%x : tensor<12x8xf32>) outs(%zero : tensor<8xf32>)
     dimensions = [0] {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["sp"]>]}
  %pin = coll.reshard %g from <@m, [[]], partial sum ["sp"]> to <@m, [[]]>
         {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32>
  %next = arith.subf %w, %pin {coll.shardings = [#coll.sharding<@m, [["sp"]]>]} : tensor<8xf32>
  return %next : tensor<8xf32>
}

// -----

// One use reads the pinned value as it is: the pin stays.

coll.mesh @m ["sp" = 4]

// CHECK-LABEL: func.func @whole
// CHECK: %[[PIN:.*]] = coll.reshard %{{.*}} from <@m, {{\[\[\]\]}}, partial sum ["sp"]> to <@m, {{\[\[\]\]}}>
// CHECK: coll.reshard %[[PIN]] from <@m, {{\[\[\]\]}}> to <@m, {{\[\["sp"\]\]}}>
func.func @whole(%w: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>},
                 %x: tensor<12x8xf32> {coll.sharding = #coll.sharding<@m, [["sp"], []]>})
    -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>},
        tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) {
  %zero = arith.constant {coll.shardings = [#coll.sharding<@m, [[]]>]} dense<0.0> : tensor<8xf32>
  %g = linalg.reduce { arith.addf } ins(%x : tensor<12x8xf32>) outs(%zero : tensor<8xf32>)
     dimensions = [0] {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["sp"]>]}
  %pin = coll.reshard %g from <@m, [[]], partial sum ["sp"]> to <@m, [[]]>
         {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32>
  %norm = arith.mulf %pin, %pin {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32>
  %next = arith.subf %w, %pin {coll.shardings = [#coll.sharding<@m, [["sp"]]>]} : tensor<8xf32>
  return %next, %norm : tensor<8xf32>, tensor<8xf32>
}
