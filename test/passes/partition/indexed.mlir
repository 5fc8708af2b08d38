// RUN: coll-opt %s --split-input-file --coll-partition --canonicalize | FileCheck %s

// Seven rows over two ranks, four and three: positions count from the start of the block, and rows that
// another rank holds are zeros. What lies outside of the table is clamped before.
// CHECK-LABEL: @table
// CHECK-DAG: %[[LAST:.*]] = arith.constant 6 : i32
// CHECK-DAG: %[[BLOCK:.*]] = arith.constant 4 : i32
// CHECK: %[[LOCAL:.*]] = linalg.generic
// CHECK: %[[FROM:.*]] = arith.maxsi
// CHECK: %[[CLAMPED:.*]] = arith.minsi %[[FROM]], %[[LAST]]
// CHECK: arith.subi %[[CLAMPED]]
// CHECK: coll.take %{{.*}}[%[[LOCAL]]] {{.*}} slice_sizes [1, 4] : tensor<4x4xf32>
// CHECK: linalg.generic
// CHECK: %[[HELD:.*]] = arith.cmpi ult, %{{.*}}, %[[BLOCK]]
// CHECK: arith.select %[[HELD]]
module @table {
  coll.mesh @m ["tp" = 2]
  func.func @step(%table: tensor<7x4xf32> {coll.sharding = #coll.sharding<@m, [["tp"], []]>},
                  %ids: tensor<8x1xi8> {coll.sharding = #coll.sharding<@m, [[], []]>})
      -> (tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [[], []]>}) {
    %r = coll.take %table[%ids] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, 4]
       {coll.shardings = [#coll.sharding<@m, [[], []], partial sum ["tp"]>]}
       : tensor<7x4xf32>, tensor<8x1xi8> -> tensor<8x4xf32>
    %s = coll.reshard %r from <@m, [[], []], partial sum ["tp"]> to <@m, [[], []]>
       {coll.shardings = [#coll.sharding<@m, [[], []]>]} : tensor<8x4xf32>
    return %s : tensor<8x4xf32>
  }
}

// -----

// Writing needs no clamping: what lies outside of the block is dropped.
// CHECK-LABEL: @accumulate
// CHECK: linalg.generic
// CHECK-NOT: arith.maxsi
// CHECK: arith.subi
// CHECK: coll.accumulate {{.*}} into %{{.*}}
// CHECK: tensor<8x4xf32>, tensor<4x4xf32>, tensor<8x1xi32>
module @accumulate {
  coll.mesh @m ["tp" = 2]
  func.func @step(%table: tensor<7x4xf32> {coll.sharding = #coll.sharding<@m, [["tp"], []]>},
                  %ids: tensor<8x1xi32> {coll.sharding = #coll.sharding<@m, [[], []]>},
                  %x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [[], []]>})
      -> (tensor<7x4xf32> {coll.sharding = #coll.sharding<@m, [["tp"], []]>}) {
    %a = coll.accumulate %x into %table[%ids] window_dims [1] inserted_dims [0] index_map [0] {
    ^bb0(%current: f32, %update: f32):
      coll.yield %update : f32
    } {coll.shardings = [#coll.sharding<@m, [["tp"], []]>]} : tensor<8x4xf32>, tensor<7x4xf32>, tensor<8x1xi32>
    return %a : tensor<7x4xf32>
  }
}

// -----

// CHECK-LABEL: @position
// CHECK: %[[HELD:.*]] = arith.cmpi ult
// CHECK: tensor.extract_slice %{{.*}}[%[[AT:.*]], 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<1x4xf32>
// CHECK: %[[KEPT:.*]] = arith.select %[[HELD]]
// CHECK: tensor.insert_slice %[[KEPT]] into %{{.*}}[%[[AT]], 0] [1, 4] [1, 1]
module @position {
  coll.mesh @m ["tp" = 2]
  func.func @step(%cache: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["tp"], []]>},
                  %new: tensor<1x4xf32> {coll.sharding = #coll.sharding<@m, [[], []]>}, %at: index)
      -> (tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["tp"], []]>}) {
    %r = tensor.insert_slice %new into %cache[%at, 0] [1, 4] [1, 1]
       {coll.shardings = [#coll.sharding<@m, [["tp"], []]>]} : tensor<1x4xf32> into tensor<8x4xf32>
    return %r : tensor<8x4xf32>
  }
}

// -----

// One block holds every position: the offset stays as it is.
// CHECK-LABEL: @one_block
// CHECK: tensor.extract_slice %{{.*}}[0, 2, 1, 3] [1, 1, 2, 1] [1, 2, 2, 1]
module @one_block {
  coll.mesh @m ["tp" = 1]
  func.func @step(%x: tensor<1x3x6x4xi8> {coll.sharding = #coll.sharding<@m, [[], ["tp"], [], []]>})
      -> (tensor<1x2xi8> {coll.sharding = #coll.sharding<@m, [[], []], partial sum ["tp"]>}) {
    %r = tensor.extract_slice %x[0, 2, 1, 3] [1, 1, 2, 1] [1, 2, 2, 1]
       {coll.shardings = [#coll.sharding<@m, [[], []], partial sum ["tp"]>]}
       : tensor<1x3x6x4xi8> to tensor<1x2xi8>
    return %r : tensor<1x2xi8>
  }
}
