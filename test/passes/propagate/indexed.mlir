// RUN: coll-opt %s --split-input-file --coll-propagate | FileCheck %s

// Rows of a table that is split by rows: every rank takes what it holds, the sum is the rows.
// CHECK-LABEL: @table
// CHECK: coll.take {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\], \[\]\]}}, partial sum ["tp"]>]}
module @table {
  coll.mesh @m ["tp" = 2]
  func.func @step(%table: tensor<10x4xf32> {coll.sharding = #coll.sharding<@m, [["tp"], []]>},
                  %ids: tensor<8x1xi32>) -> tensor<8x4xf32> {
    %r = coll.take %table[%ids] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, 4]
       : tensor<10x4xf32>, tensor<8x1xi32> -> tensor<8x4xf32>
    return %r : tensor<8x4xf32>
  }
}

// -----

// Booleans have no sum that would leave them as they are.
// CHECK-LABEL: @booleans
// CHECK: coll.take {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\], \[\]\]}}>]}
module @booleans {
  coll.mesh @m ["tp" = 2]
  func.func @step(%table: tensor<10x4xi1> {coll.sharding = #coll.sharding<@m, [["tp"], []]>},
                  %ids: tensor<8x1xi32>) -> tensor<8x4xi1> {
    %r = coll.take %table[%ids] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, 4]
       : tensor<10x4xi1>, tensor<8x1xi32> -> tensor<8x4xi1>
    return %r : tensor<8x4xi1>
  }
}

// -----

// Updates go to the rank that holds the row; a table that is not split is split as its use asks.
// CHECK-LABEL: @accumulate
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\["tp"\], \[\]\]}}>]}
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\["tp"\], \[\]\]}}>]}
module @accumulate {
  coll.mesh @m ["tp" = 2]
  func.func @step(%table: tensor<10x4xf32> {coll.role = "state", coll.sharding = #coll.sharding<@m, [["tp"], []]>},
                  %ids: tensor<8x1xi32>, %x: tensor<8x4xf32>) -> tensor<10x4xf32> {
    %zero = arith.constant dense<0.0> : tensor<10x4xf32>
    %a = coll.accumulate %x into %table[%ids] window_dims [1] inserted_dims [0] index_map [0] {
    ^bb0(%current: f32, %update: f32):
      coll.yield %update : f32
    } : tensor<8x4xf32>, tensor<10x4xf32>, tensor<8x1xi32>
    %b = coll.accumulate %x into %zero[%ids] window_dims [1] inserted_dims [0] index_map [0] {
    ^bb0(%current: f32, %update: f32):
      %s = arith.addf %current, %update : f32
      coll.yield %s : f32
    } : tensor<8x4xf32>, tensor<10x4xf32>, tensor<8x1xi32>
    %c = arith.addf %a, %b : tensor<10x4xf32>
    return %c : tensor<10x4xf32>
  }
}

// -----

// One position is read as a sum of which one rank has the terms, and written on its rank.
// CHECK-LABEL: @position
// CHECK: tensor.extract_slice {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}, partial sum ["tp"]>]}
// CHECK: tensor.insert_slice {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\["tp"\], \[\]\]}}>]}
module @position {
  coll.mesh @m ["tp" = 2]
  func.func @step(%cache: tensor<8x4xf32> {coll.role = "state", coll.sharding = #coll.sharding<@m, [["tp"], []]>},
                  %new: tensor<1x4xf32>, %at: index) -> (tensor<8x4xf32>, tensor<4xf32>) {
    %old = tensor.extract_slice %cache[%at, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    %r = tensor.insert_slice %new into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    return %r, %old : tensor<8x4xf32>, tensor<4xf32>
  }
}

// -----

// The largest element with its position, in two steps: of what a rank holds, and of those.
// CHECK-LABEL: @largest
// CHECK: tensor.expand_shape {{.*}} tensor<8x12xf32> into tensor<8x2x6xf32>
// CHECK: linalg.generic
// CHECK: } {{.*}}-> (tensor<8x2xf32>, tensor<8x2xi32>)
// CHECK: linalg.generic
// CHECK: } {{.*}}-> (tensor<8xf32>, tensor<8xi32>)
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module @largest {
  coll.mesh @m ["tp" = 2]
  func.func @step(%x: tensor<8x12xf32> {coll.sharding = #coll.sharding<@m, [[], ["tp"]]>},
                  %positions: tensor<8x12xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
    %least = arith.constant dense<0xFF800000> : tensor<8xf32>
    %none = arith.constant dense<0> : tensor<8xi32>
    %r:2 = linalg.generic {indexing_maps = [#all, #all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x, %positions : tensor<8x12xf32>, tensor<8x12xi32>) outs(%least, %none : tensor<8xf32>, tensor<8xi32>) {
    ^bb0(%value: f32, %at: i32, %most: f32, %where: i32):
      %more = arith.cmpf ogt, %value, %most : f32
      %v = arith.select %more, %value, %most : f32
      %w = arith.select %more, %at, %where : i32
      linalg.yield %v, %w : f32, i32
    } -> (tensor<8xf32>, tensor<8xi32>)
    return %r#0, %r#1 : tensor<8xf32>, tensor<8xi32>
  }
}
