// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --coll-import-stablehlo | FileCheck %s

// Rows of a table. The index vector is made the last dimension.
// CHECK-LABEL: @step
// CHECK-SAME: %[[T:.*]]: tensor<10x4xf32> {{.*}}, %[[I:.*]]: tensor<2x3xi32>
// CHECK: %[[INDICES:.*]] = tensor.expand_shape %[[I]] {{.*}} output_shape [2, 3, 1]
// CHECK: coll.take %[[T]][%[[INDICES]]] offset_dims [2] collapsed_dims [0] index_map [0] slice_sizes [1, 4]
func.func @main(%t: tensor<10x4xf32>, %i: tensor<2x3xi32>) -> tensor<2x3x4xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// An index vector in front moves to the back; unsigned indices are widened.
// CHECK-LABEL: @step
// CHECK-SAME: %[[T:.*]]: tensor<10x7xf32> {{.*}}, %[[I:.*]]: tensor<2x3xi8>
// CHECK: %[[WIDE:.*]] = arith.extui %[[I]] : tensor<2x3xi8> to tensor<2x3xi64>
// CHECK: %[[INDICES:.*]] = linalg.generic {{.*}} ins(%[[WIDE]] {{.*}} outs(%{{.*}} : tensor<3x2xi64>)
// CHECK: coll.take %[[T]][%[[INDICES]]] collapsed_dims [0, 1] index_map [0, 1] slice_sizes [1, 1]
func.func @main(%t: tensor<10x7xf32>, %i: tensor<2x3xui8>) -> tensor<3xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1]>, slice_sizes = array<i64: 1, 1>}> : (tensor<10x7xf32>, tensor<2x3xui8>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// The batch dimension of the indices follows the move.
// CHECK-LABEL: @step
// CHECK: coll.take %{{.*}} collapsed_dims [1] operand_batch_dims [0] indices_batch_dims [0] index_map [1]
// CHECK-SAME: tensor<3x1xi32> -> tensor<3xf32>
func.func @main(%t: tensor<3x10xf32>, %i: tensor<1x3xi32>) -> tensor<3xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x10xf32>, tensor<1x3xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// CHECK-LABEL: @step
// CHECK-SAME: %[[T:.*]]: tensor<10x4xf32> {{.*}}, %[[I:.*]]: tensor<3x1xi32> {{.*}}, %[[U:.*]]: tensor<3x4xf32>
// CHECK: coll.accumulate %[[U]] into %[[T]][%[[I]]] window_dims [1] inserted_dims [0] index_map [0] unique {
// CHECK-NEXT: ^bb0(%[[CURRENT:.*]]: f32, %[[UPDATE:.*]]: f32):
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[CURRENT]], %[[UPDATE]]
// CHECK-NEXT: coll.yield %[[SUM]]
func.func @main(%t: tensor<10x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>) -> tensor<10x4xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<10x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}

// -----

// Each operand is combined by its part of the region.
// CHECK-LABEL: @step
// CHECK-SAME: %[[T:.*]]: tensor<10xf32> {{.*}}, %[[N:.*]]: tensor<10xi32> {{.*}}, %[[I:.*]]: tensor<3x1xi32> {{.*}}, %[[U:.*]]: tensor<3xf32> {{.*}}, %[[V:.*]]: tensor<3xi32>
// CHECK: coll.accumulate %[[U]] into %[[T]][%[[I]]] inserted_dims [0] index_map [0] {
// CHECK-NEXT: ^bb0(%[[CURRENT:.*]]: f32, %[[UPDATE:.*]]: f32):
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[CURRENT]], %[[UPDATE]]
// CHECK-NEXT: coll.yield %[[SUM]]
// CHECK: coll.accumulate %[[V]] into %[[N]][%[[I]]] inserted_dims [0] index_map [0] {
// CHECK-NEXT: ^bb0(%[[CURRENT:.*]]: i32, %[[UPDATE:.*]]: i32):
// CHECK-NEXT: %[[MOST:.*]] = arith.maxsi %[[CURRENT]], %[[UPDATE]]
// CHECK-NEXT: coll.yield %[[MOST]]
func.func @main(%t: tensor<10xf32>, %n: tensor<10xi32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>, %v: tensor<3xi32>) -> (tensor<10xf32>, tensor<10xi32>) {
  %0:2 = "stablehlo.scatter"(%t, %n, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<i32>, %b: tensor<f32>, %d: tensor<i32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.maximum"(%c, %d) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%1, %2) : (tensor<f32>, tensor<i32>) -> ()
  }) : (tensor<10xf32>, tensor<10xi32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xi32>) -> (tensor<10xf32>, tensor<10xi32>)
  return %0#0, %0#1 : tensor<10xf32>, tensor<10xi32>
}

// -----

// A start is clamped; where only one is possible it is known.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<10x4xf32> {{.*}}, %[[I:.*]]: tensor<i32>
// CHECK: %[[START:.*]] = tensor.extract %[[I]][]
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[START]] : i32 to index
// CHECK: %[[RAISED:.*]] = arith.maxsi %[[INDEX]], %{{.*}}
// CHECK: %[[LAST:.*]] = arith.constant 8 : index
// CHECK: %[[CLAMPED:.*]] = arith.minsi %[[RAISED]], %[[LAST]]
// CHECK: tensor.extract_slice %[[X]][%[[CLAMPED]], 0] [2, 4] [1, 1]
func.func @main(%x: tensor<10x4xf32>, %i: tensor<i32>) -> tensor<2x4xf32> {
  %0 = "stablehlo.dynamic_slice"(%x, %i, %i) <{slice_sizes = array<i64: 2, 4>}> : (tensor<10x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<10xf32> {{.*}}, %[[U:.*]]: tensor<3xf32>
// CHECK: arith.index_castui
// CHECK: tensor.insert_slice %[[U]] into %[[X]][%{{.*}}] [3] [1]
func.func @main(%x: tensor<10xf32>, %u: tensor<3xf32>, %i: tensor<ui32>) -> tensor<10xf32> {
  %0 = "stablehlo.dynamic_update_slice"(%x, %u, %i) : (tensor<10xf32>, tensor<3xf32>, tensor<ui32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}
