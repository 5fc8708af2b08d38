// RUN: coll-opt %s --coll-lower-indexed --split-input-file | FileCheck %s

// The bounds of a row are checked once, outside of the loop along the row.

// CHECK-LABEL: func.func @rows
// CHECK-SAME:    %[[UPDATES:.*]]: tensor<8x64xf32>, %[[IDS:.*]]: tensor<8x1xi32>
func.func @rows(%updates: tensor<8x64xf32>, %ids: tensor<8x1xi32>) -> tensor<128x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // CHECK: %[[ZERO:.*]] = linalg.fill
  // CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[OUTER:.*]] = %[[ZERO]])
  // CHECK:   %[[ID:.*]] = tensor.extract %[[IDS]][%[[I]], %{{.*}}]
  // CHECK:   %[[ROW:.*]] = arith.index_cast %[[ID]]
  // CHECK:   %[[OK:.*]] = arith.cmpi ult, %[[ROW]]
  // CHECK:   scf.if %[[OK]]
  // CHECK:     scf.for %[[J:.*]] = {{.*}} iter_args(%[[INNER:.*]] = %[[OUTER]])
  // CHECK:       %[[UPDATE:.*]] = tensor.extract %[[UPDATES]][%[[I]], %[[J]]]
  // CHECK:       %[[CURRENT:.*]] = tensor.extract %[[INNER]][%[[ROW]], %[[J]]]
  // CHECK:       %[[SUM:.*]] = arith.addf %[[CURRENT]], %[[UPDATE]]
  // CHECK:       tensor.insert %[[SUM]] into %[[INNER]][%[[ROW]], %[[J]]]
  // CHECK: } else {
  // CHECK:   scf.yield %[[OUTER]]
  // CHECK: {coll.kernel}
  %r = coll.accumulate %updates into %zero[%ids] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%current: f32, %update: f32):
    %s = arith.addf %current, %update : f32
    coll.yield %s : f32
  } : tensor<8x64xf32>, tensor<128x64xf32>, tensor<8x1xi32>
  return %r : tensor<128x64xf32>
}

// -----

// A window that starts at a computed position is checked element by element.

// CHECK-LABEL: func.func @window
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:           arith.cmpi ult
// CHECK:           scf.if
func.func @window(%updates: tensor<2x3xf32>, %base: tensor<8xf32>, %starts: tensor<2x1xi32>) -> tensor<8xf32> {
  %r = coll.accumulate %updates into %base[%starts] window_dims [1] index_map [0] {
  ^bb0(%current: f32, %update: f32):
    coll.yield %update : f32
  } : tensor<2x3xf32>, tensor<8xf32>, tensor<2x1xi32>
  return %r : tensor<8xf32>
}
