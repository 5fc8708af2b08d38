// RUN: coll-opt %s --split-input-file --coll-partition --canonicalize | FileCheck %s

// CHECK-LABEL: @gather
// CHECK: coll.all_gather %{{.*}} dim 1 over @m["dp"] {{.*}} : tensor<4x3xf32> -> tensor<4x6xf32>
module @gather {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<4x6xf32> {coll.sharding = #coll.sharding<@m, [[], ["dp"]]>})
      -> (tensor<4x6xf32> {coll.sharding = #coll.sharding<@m, [[], []]>}) {
    %r = coll.reshard %x from <@m, [[], ["dp"]]> to <@m, [[], []]>
       {coll.shardings = [#coll.sharding<@m, [[], []]>], coll.why = "test"} : tensor<4x6xf32>
    return %r : tensor<4x6xf32>
  }
}

// -----

// Blocks of 3, 3 and 1: nine are gathered, seven are kept.
// CHECK-LABEL: @uneven_gather
// CHECK: %[[ALL:.*]] = coll.all_gather %{{.*}} dim 0 over @m["dp"] : tensor<3xf32> -> tensor<9xf32>
// CHECK: tensor.extract_slice %[[ALL]][0] [7] [1]
module @uneven_gather {
  coll.mesh @m ["dp" = 3]
  func.func @step(%x: tensor<7xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>})
      -> (tensor<7xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) {
    %r = coll.reshard %x from <@m, [["dp"]]> to <@m, [[]]>
       {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<7xf32>
    return %r : tensor<7xf32>
  }
}

// -----

// CHECK-LABEL: @slice
// CHECK-DAG: %[[BLOCK:.*]] = arith.constant 3 : index
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0] high[2]
// CHECK: %[[I:.*]] = coll.axis_index @m["dp"]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[I]], %[[BLOCK]]
// CHECK: tensor.extract_slice %[[PADDED]][%[[OFFSET]]] [3] [1] : tensor<9xf32> to tensor<3xf32>
module @slice {
  coll.mesh @m ["dp" = 3]
  func.func @step(%x: tensor<7xf32> {coll.sharding = #coll.sharding<@m, [[]]>})
      -> (tensor<7xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) {
    %r = coll.reshard %x from <@m, [[]]> to <@m, [["dp"]]>
       {coll.shardings = [#coll.sharding<@m, [["dp"]]>]} : tensor<7xf32>
    return %r : tensor<7xf32>
  }
}

// -----

// CHECK-LABEL: @exchange
// CHECK: coll.all_to_all %{{.*}} split 1 concat 0 over @m["dp"] : tensor<4x6xf32> -> tensor<8x3xf32>
module @exchange {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x6xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> (tensor<8x6xf32> {coll.sharding = #coll.sharding<@m, [[], ["dp"]]>}) {
    %r = coll.reshard %x from <@m, [["dp"], []]> to <@m, [[], ["dp"]]>
       {coll.shardings = [#coll.sharding<@m, [[], ["dp"]]>]} : tensor<8x6xf32>
    return %r : tensor<8x6xf32>
  }
}

// -----

// A sum whose consumer is split the same way is scattered, not combined everywhere.
// CHECK-LABEL: @scatter
// CHECK: coll.reduce_scatter sum %{{.*}} dim 0 over @m["dp"] {{.*}} : tensor<8xf32> -> tensor<4xf32>
module @scatter {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<6x8xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) {
    %zero = arith.constant {coll.shardings = [#coll.sharding<@m, [[]]>]} dense<0.0> : tensor<8xf32>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<6x8xf32>) outs(%zero : tensor<8xf32>)
       dimensions = [0] {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp"]>]}
    %r = coll.reshard %s from <@m, [[]], partial sum ["dp"]> to <@m, [["dp"]]>
       {coll.shardings = [#coll.sharding<@m, [["dp"]]>], coll.why = "test"} : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

// A whole value becomes a contribution of the first rank alone.
// CHECK-LABEL: @contribute
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-DAG: %[[I:.*]] = coll.axis_index @m["dp"]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[I]]
// CHECK: %[[MINE:.*]] = arith.select %[[FIRST]], %{{.*}}, %[[ZERO]]
// CHECK: coll.all_reduce sum %[[MINE]]
module @contribute {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>})
      -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) {
    %p = coll.reshard %x from <@m, [[]]> to <@m, [[]], partial sum ["dp"]>
       {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp"]>]} : tensor<8xf32>
    %r = coll.reshard %p from <@m, [[]], partial sum ["dp"]> to <@m, [[]]>
       {coll.shardings = [#coll.sharding<@m, [[]]>], coll.why = "test"} : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

// Nothing has to travel.
// CHECK-LABEL: @nothing
// CHECK-NOT: coll.all_gather
// CHECK: tensor.empty() : tensor<5x0xi64>
module @nothing {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<5x0xi64> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> (tensor<5x0xi64> {coll.sharding = #coll.sharding<@m, [[], []]>}) {
    %r = coll.reshard %x from <@m, [["dp"], []]> to <@m, [[], []]>
       {coll.shardings = [#coll.sharding<@m, [[], []]>], coll.why = "test"} : tensor<5x0xi64>
    return %r : tensor<5x0xi64>
  }
}
