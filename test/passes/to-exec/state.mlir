// RUN: coll-opt %s --split-input-file --coll-to-exec --coll-verify-exec | FileCheck %s

// The old state is not read after the update: no copy, no arena.
// CHECK-LABEL: module @in_place
// CHECK: exec.function @step({{.*}}) -> tensor<4xf32> updates [0] arena 0 {
// CHECK: %[[NEW:.+]] = exec.view %arg0[0 for 16]
// CHECK: exec.communicate reads(%arg0) writes(%[[NEW]])
// CHECK: exec.rename %[[NEW]] to %arg0
// CHECK-NEXT: exec.return
coll.program @in_place ranks [0, 1] {
  func.func @step(%s: tensor<4xf32> {coll.role = "state"}) -> tensor<4xf32> {
    %r = coll.all_reduce sum %s over [[0, 1]] : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

// It is: the new state waits in the arena until the old one has been read.
// CHECK-LABEL: module @late_read
// CHECK: exec.function @step({{.*}}) -> (tensor<4xf32>, tensor<8xf32>) updates [0, -1] arena 64 {
// CHECK: %[[NEW:.+]] = exec.view %arena[0 for 16]
// CHECK: exec.communicate reads(%arg0) writes(%[[NEW]])
// CHECK: exec.communicate reads(%arg0)
// CHECK: exec.copy %[[NEW]] to %arg0
// CHECK-NOT: exec.copy
// CHECK: exec.return
coll.program @late_read ranks [0, 1] {
  func.func @step(%s: tensor<4xf32> {coll.role = "state"}) -> (tensor<4xf32>, tensor<8xf32>) {
    %r = coll.all_reduce sum %s over [[0, 1]] : tensor<4xf32>
    %g = coll.all_gather %s dim 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
    return %r, %g : tensor<4xf32>, tensor<8xf32>
  }
}

// -----

// Two states change places through one temporary.
// CHECK-LABEL: module @swap
// CHECK: exec.function @step({{.*}}) -> (tensor<4xf32>, tensor<4xf32>) updates [0, 1] arena 64 {
// CHECK: %[[OTHER:.+]] = exec.view %arena[0 for 16]
// CHECK-NEXT: exec.copy %[[A:arg[01]]] to %[[OTHER]]
// CHECK-NEXT: exec.copy %[[B:arg[01]]] to %[[A]]
// CHECK-NEXT: exec.copy %[[OTHER]] to %[[B]]
// CHECK-NEXT: exec.return
coll.program @swap ranks [0] {
  func.func @step(%a: tensor<4xf32> {coll.role = "state"}, %b: tensor<4xf32> {coll.role = "state"})
      -> (tensor<4xf32>, tensor<4xf32>) {
    return %b, %a : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A batch argument is read only, even when it dies.
// CHECK-LABEL: module @batch
// CHECK: exec.function @step({{.*}}) -> tensor<8xf32> updates [-1] arena 64 {
// CHECK: exec.communicate reads(%arg0) writes(%at0)
coll.program @batch ranks [0, 1] {
  func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> tensor<8xf32> {
    %r = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
    %g = coll.all_gather %r dim 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
    return %g : tensor<8xf32>
  }
}
