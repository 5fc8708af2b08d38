// RUN: coll-opt %s --split-input-file --coll-propagate | FileCheck %s

// Merging a split dimension with the ones behind it keeps their blocks together.
// CHECK-LABEL: @merged
// CHECK: tensor.collapse_shape
// CHECK-SAME: {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\] unit 32\]}}>]}
module @merged {
  coll.mesh @m ["dp" = 3]
  func.func @step(%x: tensor<8x32xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<256xf32> {
    %r = tensor.collapse_shape %x [[0, 1]] : tensor<8x32xf32> into tensor<256xf32>
    return %r : tensor<256xf32>
  }
}

// -----

// Equal blocks need no unit.
// CHECK-LABEL: @even
// CHECK: tensor.collapse_shape
// CHECK-SAME: {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\]\]}}>]}
module @even {
  coll.mesh @m ["dp" = 4]
  func.func @step(%x: tensor<8x32xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<256xf32> {
    %r = tensor.collapse_shape %x [[0, 1]] : tensor<8x32xf32> into tensor<256xf32>
    return %r : tensor<256xf32>
  }
}

// -----

// A reversed dimension is whole; the others are split as the operand is.
// CHECK-LABEL: @reversed
// CHECK: linalg.generic
// CHECK-SAME: {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
module @reversed {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<8x4xf32> {
    %empty = tensor.empty() : tensor<8x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 3 - j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<8x4xf32>) outs(%empty : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    return %r : tensor<8x4xf32>
  }
}

// -----

// Rows taken by split indices are split; what they accumulate into is partial.
// CHECK-LABEL: @embedding
// CHECK: coll.take {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
// CHECK: coll.shardings = [#coll.sharding<@m, {{\[\[\], \[\]\]}}, partial sum ["dp"]>]}
module @embedding {
  coll.mesh @m ["dp" = 2]
  func.func @step(%table: tensor<3x4xf32>,
                  %ids: tensor<8x1xi32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<3x4xf32> {
    %zero = arith.constant dense<0.0> : tensor<3x4xf32>
    %r = coll.take %table[%ids] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, 4]
       : tensor<3x4xf32>, tensor<8x1xi32> -> tensor<8x4xf32>
    %g = coll.accumulate %r into %zero[%ids] window_dims [1] inserted_dims [0] index_map [0] {
    ^bb0(%current: f32, %update: f32):
      %s = arith.addf %current, %update : f32
      coll.yield %s : f32
    } : tensor<8x4xf32>, tensor<3x4xf32>, tensor<8x1xi32>
    return %g : tensor<3x4xf32>
  }
}

// -----

// A table with more rows than there are updates takes fewer bytes: the updates are gathered.
// CHECK-LABEL: @large_table
// CHECK: } {coll.decision = {chosen = "without splitting a sum"
// CHECK-SAME: coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
module @large_table {
  coll.mesh @m ["dp" = 2]
  func.func @step(%table: tensor<512x4xf32> {coll.role = "state", coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %r: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %ids: tensor<8x1xi32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<512x4xf32> {
    %zero = arith.constant dense<0.0> : tensor<512x4xf32>
    %g = coll.accumulate %r into %zero[%ids] window_dims [1] inserted_dims [0] index_map [0] {
    ^bb0(%current: f32, %update: f32):
      %s = arith.addf %current, %update : f32
      coll.yield %s : f32
    } : tensor<8x4xf32>, tensor<512x4xf32>, tensor<8x1xi32>
    %rate = arith.constant dense<0.1> : tensor<512x4xf32>
    %step = arith.mulf %g, %rate : tensor<512x4xf32>
    %next = arith.subf %table, %step : tensor<512x4xf32>
    return %next : tensor<512x4xf32>
  }
}

// -----

// Two axes: rows over "dp", columns over "tp".
// CHECK-LABEL: @two_axes
// CHECK: linalg.matmul {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \["tp"\]\]}}>]}
module @two_axes {
  coll.mesh @m ["dp" = 2, "tp" = 2]
  func.func @step(%x: tensor<8x6xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %w: tensor<6x4xf32> {coll.sharding = #coll.sharding<@m, [[], ["tp"]]>})
      -> tensor<8x4xf32> {
    %zero = arith.constant dense<0.0> : tensor<8x4xf32>
    %p = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x4xf32>)
                       outs(%zero : tensor<8x4xf32>) -> tensor<8x4xf32>
    return %p : tensor<8x4xf32>
  }
}

// -----

// What no operand splits follows its uses: each rank computes its part only.
// CHECK-LABEL: @backward
// CHECK: linalg.broadcast {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
module @backward {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %b: tensor<4xf32>) -> tensor<8x4xf32> {
    %empty = tensor.empty() : tensor<8x4xf32>
    %w = linalg.broadcast ins(%b : tensor<4xf32>) outs(%empty : tensor<8x4xf32>) dimensions = [0]
    %r = arith.addf %x, %w : tensor<8x4xf32>
    return %r : tensor<8x4xf32>
  }
}

// -----

// A sort needs its dimension whole; the block that is wanted is taken behind it.
// CHECK-LABEL: @wanted
// CHECK: %[[WHOLE:.*]] = coll.sort
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}>]}
// CHECK: %[[PART:.*]] = coll.reshard %[[WHOLE]] from <@m, {{\[\[\]\]}}> to <@m, {{\[\["dp"\]\]}}>
// CHECK-SAME: coll.why = "the sharding that is written on coll.sort"
// CHECK: return %[[PART]]
module @wanted {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) -> tensor<8xf32> {
    %r = coll.sort %x dim 0 {
    ^bb0(%a: f32, %b: f32):
      %less = arith.cmpf olt, %a, %b : f32
      coll.yield %less : i1
    } {coll.shardings = [#coll.sharding<@m, [["dp"]]>]} : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

// Nothing of no elements can be split.
// CHECK-LABEL: @nothing
// CHECK: tensor.expand_shape {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\], \[\]\]}}>]}
module @nothing {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<0xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) -> tensor<4x0xf32> {
    %r = tensor.expand_shape %x [[0, 1]] output_shape [4, 0] : tensor<0xf32> into tensor<4x0xf32>
    return %r : tensor<4x0xf32>
  }
}

// -----

// A group of dimensions of extent 1 has nothing to split, either.
// CHECK-LABEL: @units
// CHECK: tensor.collapse_shape {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\], \["dp"\]\]}}>]}
module @units {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<1x1x8xf32> {coll.sharding = #coll.sharding<@m, [[], [], ["dp"]]>}) -> tensor<1x8xf32> {
    %r = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x1x8xf32> into tensor<1x8xf32>
    return %r : tensor<1x8xf32>
  }
}
