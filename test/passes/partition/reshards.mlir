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

// -----

// What is split in the end is split before anything is gathered.
// CHECK-LABEL: @slices_first
// CHECK: tensor.extract_slice %{{.*}} : tensor<8x8xf32> to tensor<8x2xf32>
// CHECK: coll.all_gather %{{.*}} dim 0 over @m["x"] : tensor<8x2xf32> -> tensor<16x2xf32>
module @slices_first {
  coll.mesh @m ["x" = 2, "y" = 4]
  func.func @step(%x: tensor<16x8xf32> {coll.sharding = #coll.sharding<@m, [["x"], []]>})
      -> (tensor<16x8xf32> {coll.sharding = #coll.sharding<@m, [[], ["y"]]>}) {
    %r = coll.reshard %x from <@m, [["x"], []]> to <@m, [[], ["y"]]>
       {coll.shardings = [#coll.sharding<@m, [[], ["y"]]>]} : tensor<16x8xf32>
    return %r : tensor<16x8xf32>
  }
}

// -----

// An axis that joins a dimension moves nothing.
// CHECK-LABEL: @splits_further
// CHECK-NOT: coll.all_gather
// CHECK: tensor.extract_slice %{{.*}} : tensor<8x8xf32> to tensor<2x8xf32>
// CHECK-NOT: coll.all_gather
module @splits_further {
  coll.mesh @m ["x" = 2, "y" = 4]
  func.func @step(%x: tensor<16x8xf32> {coll.sharding = #coll.sharding<@m, [["x"], []]>})
      -> (tensor<16x8xf32> {coll.sharding = #coll.sharding<@m, [["x", "y"], []]>}) {
    %r = coll.reshard %x from <@m, [["x"], []]> to <@m, [["x", "y"], []]>
       {coll.shardings = [#coll.sharding<@m, [["x", "y"], []]>]} : tensor<16x8xf32>
    return %r : tensor<16x8xf32>
  }
}

// -----

// The same blocks on other ranks.
// CHECK-LABEL: @reorders
// CHECK: coll.permute %{{.*}} pairs {{.*}} over @m["x", "y"] : tensor<2x8xf32>
module @reorders {
  coll.mesh @m ["x" = 2, "y" = 4]
  func.func @step(%x: tensor<16x8xf32> {coll.sharding = #coll.sharding<@m, [["x", "y"], []]>})
      -> (tensor<16x8xf32> {coll.sharding = #coll.sharding<@m, [["y", "x"], []]>}) {
    %r = coll.reshard %x from <@m, [["x", "y"], []]> to <@m, [["y", "x"], []]>
       {coll.shardings = [#coll.sharding<@m, [["y", "x"], []]>]} : tensor<16x8xf32>
    return %r : tensor<16x8xf32>
  }
}

// -----

// Only the axis that moves is exchanged.
// CHECK-LABEL: @trades_the_minor_axis
// CHECK: coll.all_to_all %{{.*}} split 1 concat 0 over @m["y"] : tensor<2x8xf32> -> tensor<8x2xf32>
module @trades_the_minor_axis {
  coll.mesh @m ["x" = 2, "y" = 4]
  func.func @step(%x: tensor<16x8xf32> {coll.sharding = #coll.sharding<@m, [["x", "y"], []]>})
      -> (tensor<16x8xf32> {coll.sharding = #coll.sharding<@m, [["x"], ["y"]]>}) {
    %r = coll.reshard %x from <@m, [["x", "y"], []]> to <@m, [["x"], ["y"]]>
       {coll.shardings = [#coll.sharding<@m, [["x"], ["y"]]>]} : tensor<16x8xf32>
    return %r : tensor<16x8xf32>
  }
}

// -----

// Axes of size 1 are no difference.
// CHECK-LABEL: @void_axes
// CHECK-NOT: coll.{{(all|permute)}}
// CHECK: return
module @void_axes {
  coll.mesh @m ["x" = 1, "y" = 4]
  func.func @step(%x: tensor<16x8xf32> {coll.sharding = #coll.sharding<@m, [["x", "y"], []]>})
      -> (tensor<16x8xf32> {coll.sharding = #coll.sharding<@m, [["y"], ["x"]]>}) {
    %r = coll.reshard %x from <@m, [["x", "y"], []]> to <@m, [["y"], ["x"]]>
       {coll.shardings = [#coll.sharding<@m, [["y"], ["x"]]>]} : tensor<16x8xf32>
    return %r : tensor<16x8xf32>
  }
}

// -----

// A sum over two axes, split over one of them: it is scattered over that, and combined over the
// other, where it is smaller by then.
// CHECK-LABEL: @scatter_then_reduce
// CHECK: %[[PART:.*]] = coll.reduce_scatter sum %{{.*}} dim 0 over @m["x"] : tensor<8xf32> -> tensor<4xf32>
// CHECK: coll.all_reduce sum %[[PART]] over @m["y"] : tensor<4xf32>
module @scatter_then_reduce {
  coll.mesh @m ["x" = 2, "y" = 4]
  func.func @step(%x: tensor<8x8xf32> {coll.sharding = #coll.sharding<@m, [["x", "y"], []]>})
      -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["x"]]>}) {
    %zero = arith.constant {coll.shardings = [#coll.sharding<@m, [[]]>]} dense<0.0> : tensor<8xf32>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<8x8xf32>) outs(%zero : tensor<8xf32>)
       dimensions = [0] {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["x", "y"]>]}
    %r = coll.reshard %s from <@m, [[]], partial sum ["x", "y"]> to <@m, [["x"]]>
       {coll.shardings = [#coll.sharding<@m, [["x"]]>]} : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

// Uneven blocks are scattered, too: padding is added before.
// CHECK-LABEL: @uneven_scatter
// CHECK: %[[PADDED:.*]] = tensor.pad {{.*}} high[2]
// CHECK: coll.reduce_scatter sum %[[PADDED]] dim 0 over @m["dp"] : tensor<9xf32> -> tensor<3xf32>
module @uneven_scatter {
  coll.mesh @m ["dp" = 3]
  func.func @step(%x: tensor<6x7xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> (tensor<7xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) {
    %zero = arith.constant {coll.shardings = [#coll.sharding<@m, [[]]>]} dense<0.0> : tensor<7xf32>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<6x7xf32>) outs(%zero : tensor<7xf32>)
       dimensions = [0] {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp"]>]}
    %r = coll.reshard %s from <@m, [[]], partial sum ["dp"]> to <@m, [["dp"]]>
       {coll.shardings = [#coll.sharding<@m, [["dp"]]>]} : tensor<7xf32>
    return %r : tensor<7xf32>
  }
}

// -----

// A block becomes a contribution where it is: nothing is gathered before the sum.
// CHECK-LABEL: @contribute_block
// CHECK-NOT: coll.all_gather
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}} : tensor<4xf32> into tensor<8xf32>
// CHECK: coll.all_reduce
module @contribute_block {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>})
      -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) {
    %p = coll.reshard %x from <@m, [["dp"]]> to <@m, [[]], partial sum ["dp"]>
       {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp"]>]} : tensor<8xf32>
    %n = arith.negf %p {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp"]>]} : tensor<8xf32>
    %r = coll.reshard %n from <@m, [[]], partial sum ["dp"]> to <@m, [[]]>
       {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}
