// RUN: coll-opt %s --coll-split-ranks --split-input-file | FileCheck %s

// Nested decisions count only where they are reached: rank parity splits the ranks
// below 4, the others are one class.

// CHECK-LABEL: coll.mesh @nested
// CHECK:       coll.program @class0 ranks [0, 2] {
// CHECK:         coll.barrier over {{\[\[}}0, 2]]
// CHECK:       coll.program @class1 ranks [1, 3] {
// CHECK-NOT:     coll.barrier
// CHECK:       coll.program @class2 ranks [4 to 7] {
// CHECK-NEXT:    func.func @step() {
// CHECK-NEXT:      return
// CHECK-NOT:   coll.program
coll.mesh @nested ["dp" = 8]
func.func @step() {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %rank = coll.rank
  %low = arith.cmpi ult, %rank, %c4 : index
  %bit = arith.remui %rank, %c2 : index
  %even = arith.cmpi eq, %bit, %c0 : index
  scf.if %low {
    scf.if %even {
      coll.barrier over [[0, 2]]
    }
  }
  return
}

// -----

// Coordinates along several axes; the decision shows in the results.

// CHECK-LABEL: coll.mesh @grid
// CHECK:       coll.program @class0 ranks [0, 3] {
// CHECK:         %[[A:.*]] = coll.all_reduce max
// CHECK:         return %[[A]]
// CHECK:       coll.program @class1 ranks [1, 2, 4, 5] {
// CHECK:         %[[B:.*]] = coll.all_reduce min
// CHECK:         return %[[B]]
coll.mesh @grid ["dp" = 2, "tp" = 3]
func.func @step(%x: tensor<2xi32>) -> tensor<2xi32> {
  %c0 = arith.constant 0 : index
  %tp = coll.axis_index @grid["tp"]
  %first = arith.cmpi eq, %tp, %c0 : index
  %r = scf.if %first -> tensor<2xi32> {
    %a = coll.all_reduce max %x over @grid["dp"] : tensor<2xi32>
    scf.yield %a : tensor<2xi32>
  } else {
    %b = coll.all_reduce min %x over @grid["dp"] : tensor<2xi32>
    scf.yield %b : tensor<2xi32>
  }
  return %r : tensor<2xi32>
}

// -----

// A loop that some ranks never enter: they lose it, the others share it.

// CHECK-LABEL: coll.program @class0 ranks [0] {
// CHECK-NEXT:    func.func @step(%[[X:.*]]: tensor<2xf32>)
// CHECK-NOT:       scf.for
// CHECK:           return %[[X]]
// CHECK:       coll.program @class1 ranks [1, 2] {
// CHECK:           scf.for
// CHECK-NOT:   coll.program
func.func @step(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rank = coll.rank
  %r = scf.for %i = %c0 to %rank step %c1 iter_args(%a = %x) -> tensor<2xf32> {
    %s = coll.all_reduce sum %a over [[0], [1], [2]] : tensor<2xf32>
    scf.yield %s : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

// Every kind of selection: a switch over the position in a group.

// CHECK-LABEL: coll.program @class0 ranks [0, 2] {
// CHECK:         coll.all_reduce sum
// CHECK:       coll.program @class1 ranks [1, 3] {
// CHECK:         coll.all_reduce prod
func.func @step(%x: tensor<2xf32>) -> tensor<2xf32> {
  %i, %n = coll.group over [[0, 1], [2, 3]]
  %r = scf.index_switch %i -> tensor<2xf32>
  case 1 {
    %a = coll.all_reduce prod %x over [[1, 3]] : tensor<2xf32>
    scf.yield %a : tensor<2xf32>
  }
  default {
    %b = coll.all_reduce sum %x over [[0, 2]] : tensor<2xf32>
    scf.yield %b : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

// Routes belong to the class whose dispatch made them.

// CHECK-LABEL: coll.mesh @experts
// CHECK:       coll.program @class0 ranks [0] {
// CHECK:         %[[ROUTE:[a-z0-9_]+]] = coll.dispatch {{.*}} capacity 4 over
// CHECK:         coll.combine {{.*}} along %[[ROUTE]] : {{.*}} !coll.route<2 topk 1 to 4 over @experts["ep"]>
// CHECK:       coll.program @class1 ranks [1] {
// CHECK:         %[[ROUTE:[a-z0-9_]+]] = coll.dispatch {{.*}} capacity 3 over
// CHECK:         coll.combine {{.*}} along %[[ROUTE]] : {{.*}} !coll.route<2 topk 1 to 3 over @experts["ep"]>
coll.mesh @experts ["ep" = 2]
func.func @step(%x: tensor<2x4xf32>, %e: tensor<2x1xi32>, %w: tensor<2x1xf32>) -> tensor<2x4xf32> {
  %c0 = arith.constant 0 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  %y = scf.if %first -> tensor<2x4xf32> {
    %rows, %row_experts, %row_weights, %counts, %route =
        coll.dispatch %x to %e weights %w local_experts 1 capacity 4 over @experts["ep"]
        : tensor<2x4xf32>, tensor<2x1xi32>, tensor<2x1xf32>
    %a = coll.combine %rows along %route : tensor<4x4xf32>, !coll.route<2 topk 1 to 4 over @experts["ep"]>
    scf.yield %a : tensor<2x4xf32>
  } else {
    %rows, %row_experts, %row_weights, %counts, %route =
        coll.dispatch %x to %e weights %w local_experts 1 capacity 3 over @experts["ep"]
        : tensor<2x4xf32>, tensor<2x1xi32>, tensor<2x1xf32>
    %b = coll.combine %rows along %route : tensor<3x4xf32>, !coll.route<2 topk 1 to 3 over @experts["ep"]>
    scf.yield %b : tensor<2x4xf32>
  }
  return %y : tensor<2x4xf32>
}

// -----

// What a loop counts without a sign is decided where it runs.
// CHECK-LABEL: @unsigned
// CHECK-COUNT-1: coll.program
// CHECK: scf.for unsigned
// CHECK-NOT: coll.program
module @unsigned {
  coll.mesh @m ["x" = 2]
  func.func @step(%x: tensor<4xf32>) {
    %r = coll.rank
    %z = arith.constant 0 : index
    %ub = arith.subi %z, %r : index
    %st = arith.constant -1 : index
    scf.for unsigned %i = %z to %ub step %st {
      %s = coll.all_reduce sum %x over @m["x"] : tensor<4xf32>
    }
    return
  }
}

// -----

// A bound that belongs to the lower class.

// CHECK-LABEL: coll.mesh @bound
// CHECK:       coll.program @class0 ranks [0, 1] {
// CHECK:         coll.barrier over {{\[\[}}0, 1]]
// CHECK:       coll.program @class1 ranks [2, 3] {
// CHECK-NOT:     coll.barrier
coll.mesh @bound ["dp" = 4]
func.func @step() {
  %c1 = arith.constant 1 : index
  %rank = coll.rank
  %low = arith.cmpi ule, %rank, %c1 : index
  scf.if %low {
    coll.barrier over [[0, 1]]
  }
  return
}
