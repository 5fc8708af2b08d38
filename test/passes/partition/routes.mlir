// RUN: coll-opt %s --split-input-file --coll-partition=topology=%S/inputs/bytes_alone.json --canonicalize --cse | FileCheck %s
// RUN: coll-opt %s --split-input-file --coll-partition --canonicalize --cse | FileCheck %s --check-prefix=CALLS

// Routes: each rank receives just what it lacks. In these links calls take no time. By bytes, a call
// counts as much as 50 KB.

coll.mesh @m ["a" = 4]

// 7 over 4 has blocks of 2, the last one of 1: by bytes its padding does not travel. The rank that
// receives nothing in a round writes behind its block. To send four times a block takes as long with
// padding as without.
// CHECK-LABEL: func.func @uneven
// CHECK: coll.all_gather %{{.*}} dim 0 over @m["a"] : tensor<2x1048576xf32> -> tensor<8x1048576xf32>
// CALLS-LABEL: func.func @uneven
// CALLS-SAME: (%[[X:.*]]: tensor<2x1048576xf32>
// CALLS-DAG: tensor.empty() : tensor<9x1048576xf32>
// CALLS-COUNT-3: coll.permute %{{.*}} over @m["a"] : tensor<1x1048576xf32>
// CALLS-COUNT-3: coll.permute %[[X]] {{.*}} over @m["a"] : tensor<2x1048576xf32>
// CALLS-NOT: coll.permute
// CALLS: tensor.extract_slice %{{.*}}[0, 0] [7, 1048576] [1, 1] : tensor<9x1048576xf32> to tensor<7x1048576xf32>
func.func @uneven(%x: tensor<7x1048576xf32> {coll.sharding = #coll.sharding<@m, [["a"], []]>})
    -> (tensor<7x1048576xf32> {coll.sharding = #coll.sharding<@m, [[], []]>}) {
  %r = coll.reshard %x from <@m, [["a"], []]> to <@m, [[], []]>
     {coll.shardings = [#coll.sharding<@m, [[], []]>]} : tensor<7x1048576xf32>
  return %r : tensor<7x1048576xf32>
}

// -----

coll.mesh @m ["a" = 2, "b" = 2]

// A dimension that is split over one axis is split over the other, and a second one is joined: by
// collectives, some elements would move twice.
// CHECK-LABEL: func.func @moved
// CHECK-SAME: (%[[X:.*]]: tensor<4x2x4xf32>
// CHECK-NOT: coll.all_
// CHECK: coll.permute %{{.*}} over @m["a", "b"] : tensor<4x2x2xf32>
// CHECK: tensor.insert_slice
// CHECK: coll.permute %{{.*}} over @m["a", "b"] : tensor<4x2x2xf32>
// CHECK-NOT: coll.permute
// CHECK-NOT: coll.all_
// CHECK: return %{{.*}} : tensor<4x4x2xf32>
// CALLS-LABEL: func.func @moved
// CALLS: coll.all_to_all
// CALLS: coll.all_to_all
func.func @moved(%x: tensor<8x4x4xf32> {coll.sharding = #coll.sharding<@m, [["a"], ["b"], []]>})
    -> (tensor<8x4x4xf32> {coll.sharding = #coll.sharding<@m, [["b"], [], ["a"]]>}) {
  %r = coll.reshard %x from <@m, [["a"], ["b"], []]> to <@m, [["b"], [], ["a"]]>
     {coll.shardings = [#coll.sharding<@m, [["b"], [], ["a"]]>]} : tensor<8x4x4xf32>
  return %r : tensor<8x4x4xf32>
}

// -----

coll.mesh @m ["a" = 2, "b" = 2]

// Ranks that want a block of which they hold contributions combine them, in f32 and in the order of
// the ranks, and send the result to the others.
// Ranks 1 and 2 combine nothing: they write into a cell that is not read.
// CHECK-LABEL: func.func @sum
// CHECK-DAG: arith.constant dense<[0, 1, 1, 0]> : tensor<4xi64>
// CHECK: %[[PART:.*]] = linalg.reduce
// CHECK: %[[IN:.*]] = coll.permute %[[PART]] pairs {{.*}} over @m["a", "b"] : tensor<4x8xbf16>
// CHECK: tensor.insert_slice %[[IN]] into %{{.*}} : tensor<4x8xbf16> into tensor<2x2x4x8xbf16>
// CHECK: tensor.insert_slice %[[PART]] into
// CHECK: %[[FIRST:.*]] = arith.extf
// CHECK: %[[SECOND:.*]] = arith.extf
// CHECK: %[[SUM:.*]] = arith.addf %[[FIRST]], %[[SECOND]] : tensor<1x4x8xf32>
// CHECK: arith.truncf %[[SUM]]
// CHECK: coll.permute %{{.*}} pairs {{.*}} over @m["a", "b"] : tensor<4x8xbf16>
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [4, 8] [1, 1] : tensor<8x8xbf16> to tensor<4x8xbf16>
// CALLS-LABEL: func.func @sum
// CALLS: coll.reduce_scatter
// CALLS: coll.permute
func.func @sum(%x: tensor<2x8x8xbf16> {coll.sharding = #coll.sharding<@m, [["a"], ["b"], []]>})
    -> (tensor<8x8xbf16> {coll.sharding = #coll.sharding<@m, [["a"], []]>}) {
  %zero = arith.constant {coll.shardings = [#coll.sharding<@m, [["b"], []]>]} dense<0.0> : tensor<8x8xbf16>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<2x8x8xbf16>) outs(%zero : tensor<8x8xbf16>)
     dimensions = [0] {coll.shardings = [#coll.sharding<@m, [["b"], []], partial sum ["a"]>]}
  %r = coll.reshard %s from <@m, [["b"], []], partial sum ["a"]> to <@m, [["a"], []]>
     {coll.shardings = [#coll.sharding<@m, [["a"], []]>]} : tensor<8x8xbf16>
  return %r : tensor<8x8xbf16>
}

// -----

coll.mesh @m ["a" = 2, "b" = 2]

// A sum that ends where its contributions are stays a collective.
// CHECK-LABEL: func.func @stays
// CHECK: coll.all_reduce sum %{{.*}} over @m["a"] : tensor<8xf32>
// CALLS-LABEL: func.func @stays
// CALLS: coll.all_reduce sum %{{.*}} over @m["a"] : tensor<8xf32>
func.func @stays(%x: tensor<2x8xf32> {coll.sharding = #coll.sharding<@m, [["a"], []]>})
    -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) {
  %zero = arith.constant {coll.shardings = [#coll.sharding<@m, [[]]>]} dense<0.0> : tensor<8xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<2x8xf32>) outs(%zero : tensor<8xf32>)
     dimensions = [0] {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["a"]>]}
  %r = coll.reshard %s from <@m, [[]], partial sum ["a"]> to <@m, [[]]>
     {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32>
  return %r : tensor<8xf32>
}
