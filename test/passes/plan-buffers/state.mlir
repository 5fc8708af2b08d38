// RUN: coll-opt %s --split-input-file --coll-emit-executable | FileCheck %s

// The old state is not read after the update: no copy, no arena.
// CHECK-LABEL: module @in_place
coll.program @in_place ranks [0, 1] {
  // CHECK: \22arena_bytes\22:0
  // CHECK-LABEL: llvm.func @coll_step
  // CHECK-NOT: llvm.intr.memcpy
  // CHECK: llvm.call
  // CHECK-NOT: llvm.intr.memcpy
  // CHECK: llvm.return
  func.func @step(%s: tensor<4xf32> {coll.role = "state"}) -> tensor<4xf32> {
    %r = coll.all_reduce sum %s over [[0, 1]] : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

// It is: the new state waits in the arena until the old one has been read.
// CHECK-LABEL: module @late_read
coll.program @late_read ranks [0, 1] {
  // CHECK: \22arena_bytes\22:64
  // CHECK-LABEL: llvm.func @coll_step
  // CHECK-COUNT-2: llvm.call
  // CHECK: llvm.intr.memcpy
  // CHECK-NOT: llvm.intr.memcpy
  // CHECK: llvm.return
  func.func @step(%s: tensor<4xf32> {coll.role = "state"}) -> (tensor<4xf32>, tensor<8xf32>) {
    %r = coll.all_reduce sum %s over [[0, 1]] : tensor<4xf32>
    %g = coll.all_gather %s dim 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
    return %r, %g : tensor<4xf32>, tensor<8xf32>
  }
}

// -----

// Two states change places through one temporary.
// CHECK-LABEL: module @swap
coll.program @swap ranks [0] {
  // CHECK: \22arena_bytes\22:64
  // CHECK-LABEL: llvm.func @coll_step
  // CHECK-COUNT-3: llvm.intr.memcpy
  // CHECK-NOT: llvm.intr.memcpy
  // CHECK: llvm.return
  func.func @step(%a: tensor<4xf32> {coll.role = "state"}, %b: tensor<4xf32> {coll.role = "state"})
      -> (tensor<4xf32>, tensor<4xf32>) {
    return %b, %a : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A batch argument is read only, even when it dies.
// CHECK-LABEL: module @batch
coll.program @batch ranks [0, 1] {
  // CHECK: \22arena_bytes\22:64
  // CHECK-LABEL: llvm.func @coll_step
  func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> tensor<8xf32> {
    %r = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
    %g = coll.all_gather %r dim 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
    return %g : tensor<8xf32>
  }
}
