// RUN: coll-opt %s --coll-lower-indexed=gpu --split-input-file | FileCheck %s
// RUN: coll-opt %s --coll-lower-indexed --split-input-file | FileCheck %s --check-prefix=LOOPS

// One update in each row: no zeros are written, nor read again.

// CHECK-LABEL: func.func @labels
// CHECK-SAME:    %[[U:.*]]: tensor<8x16x1xf32>, %[[AT:.*]]: tensor<8x16x1x1xi32>
// CHECK-NOT:   linalg.fill
// CHECK-NOT:   scf.for
// CHECK-DAG:   %[[A:.*]] = tensor.collapse_shape %[[AT]]
// CHECK-DAG:   %[[V:.*]] = tensor.collapse_shape %[[U]]
// CHECK:       %[[R:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[V]] : tensor<8x16xi32>, tensor<8x16xf32>)
// CHECK:         linalg.index 2
// CHECK:         arith.cmpi eq
// CHECK:         arith.addf
// CHECK:         arith.select
// CHECK:       return %[[R]] : tensor<8x16x100xf32>
// LOOPS-LABEL: func.func @labels
// LOOPS:       scf.for
func.func @labels(%u: tensor<8x16x1xf32>, %at: tensor<8x16x1x1xi32>) -> tensor<8x16x100xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x16x100xf32>
  %r = coll.accumulate %u into %zero[%at] inserted_dims [2] operand_batch_dims [0, 1] indices_batch_dims [0, 1] index_map [2] {
  ^bb0(%c: f32, %x: f32):
    %s = arith.addf %c, %x : f32
    coll.yield %s : f32
  } : tensor<8x16x1xf32>, tensor<8x16x100xf32>, tensor<8x16x1x1xi32>
  return %r : tensor<8x16x100xf32>
}

// -----

// Two updates in a row, or rows of an embedding, are applied one after the other.

// CHECK-LABEL: func.func @two
// CHECK:       scf.for
func.func @two(%u: tensor<8x2xf32>, %at: tensor<8x2x1xi32>) -> tensor<8x100xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x100xf32>
  %r = coll.accumulate %u into %zero[%at] inserted_dims [1] operand_batch_dims [0] indices_batch_dims [0] index_map [1] {
  ^bb0(%c: f32, %x: f32):
    %s = arith.addf %c, %x : f32
    coll.yield %s : f32
  } : tensor<8x2xf32>, tensor<8x100xf32>, tensor<8x2x1xi32>
  return %r : tensor<8x100xf32>
}

// -----

// CHECK-LABEL: func.func @embedding
// CHECK:       scf.for
func.func @embedding(%u: tensor<16x8xf32>, %at: tensor<16x1xi32>) -> tensor<100x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<100x8xf32>
  %r = coll.accumulate %u into %zero[%at] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%c: f32, %x: f32):
    %s = arith.addf %c, %x : f32
    coll.yield %s : f32
  } : tensor<16x8xf32>, tensor<100x8xf32>, tensor<16x1xi32>
  return %r : tensor<100x8xf32>
}
