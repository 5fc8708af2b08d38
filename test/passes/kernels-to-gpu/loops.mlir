// RUN: coll-opt %s --coll-lower-indexed --coll-outline-kernels --coll-kernels-to-gpu | FileCheck %s

// The columns of the updates go to different elements, so each has a thread; the rows may meet in
// one element and stay in order.

// CHECK-LABEL: gpu.func @kernel_0_1(
// CHECK:         gpu.thread_id
// CHECK:         scf.for
// CHECK:         scf.if
// CHECK:         memref.store
func.func @step(%updates: tensor<10x32xf32>, %ids: tensor<10x1xi32>) -> tensor<100x32xf32> {
  %zero = arith.constant dense<0.0> : tensor<100x32xf32>
  %r = coll.accumulate %updates into %zero[%ids] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%current: f32, %update: f32):
    %s = arith.addf %current, %update : f32
    coll.yield %s : f32
  } : tensor<10x32xf32>, tensor<100x32xf32>, tensor<10x1xi32>
  return %r : tensor<100x32xf32>
}
