// RUN: coll-opt %s --coll-to-exec --coll-emit-executable | FileCheck %s

coll.mesh @m ["dp" = 2, "tp" = 2]

// Blocks of a gathered dimension: [outer][n][count].
// CHECK-LABEL: module @gather
coll.program @gather ranks [0 to 3] {
  // CHECK: llvm.func @coll_step(%[[ABI:[a-z0-9]+]]: !llvm.ptr, %[[CTX:[a-z0-9]+]]: !llvm.ptr,
  func.func @step(%x: tensor<3x4x5xf32>) -> tensor<3x8x5xf32> {
    // CHECK-DAG: %[[OUTER:.*]] = llvm.mlir.constant(3 : i64)
    // CHECK-DAG: %[[COUNT:.*]] = llvm.mlir.constant(20 : i64)
    // all_gather is entry 4.
    // CHECK: llvm.getelementptr %[[ABI]][40]
    // CHECK: llvm.call %{{.*}}(%[[CTX]], %{{.*}}, %{{.*}}, %{{.*}}, %[[OUTER]], %[[COUNT]],
    %r = coll.all_gather %x dim 1 over @m["tp"] : tensor<3x4x5xf32> -> tensor<3x8x5xf32>
    return %r : tensor<3x8x5xf32>
  }
}

// Block j of [4, 6] is [2, 6], and lands beside the others in [2, 12].
// CHECK-LABEL: module @exchange
coll.program @exchange ranks [0 to 3] {
  func.func @step(%x: tensor<4x6xf32>) -> tensor<2x12xf32> {
    // CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
    // CHECK-DAG: %[[TWELVE:.*]] = llvm.mlir.constant(12 : i64)
    // CHECK-DAG: %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
    // CHECK-DAG: %[[SIX:.*]] = llvm.mlir.constant(6 : i64)
    // CHECK: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ONE]], %[[TWELVE]], %[[TWO]], %[[SIX]],
    %r = coll.all_to_all %x split 0 concat 1 over @m["dp"] : tensor<4x6xf32> -> tensor<2x12xf32>
    return %r : tensor<2x12xf32>
  }
}

// A table of pairs for each permutation, listed for a shift, too; one group.
// CHECK-LABEL: module @pairs
// CHECK-DAG: llvm.mlir.global internal constant @pairs_0(dense<[0, 1, 1, 0]> : tensor<4xi32>)
// CHECK-DAG: llvm.mlir.global internal constant @pairs_1(dense<[1, 0]> : tensor<2xi32>)
coll.program @pairs ranks [0 to 3] {
  func.func @step(%x: tensor<4xf32> {coll.role = "state"}) -> tensor<4xf32> {
    // CHECK-DAG: llvm.mlir.addressof @pairs_0
    %r = coll.permute %x pairs [[0, 1], [1, 0]] over @m["tp"] : tensor<4xf32>
    // CHECK-DAG: llvm.mlir.addressof @pairs_1
    %s = coll.permute %r shift -1 over @m["tp"] : tensor<4xf32>
    coll.barrier over [[0, 1], [2, 3]]
    return %s : tensor<4xf32>
  }
}

// A route is memory like a tensor: here 4 * (8 + 8 + 3 * 2) bytes. A loop that passes it on does not
// copy it.
// CHECK-LABEL: module @tokens
// CHECK: \22arena_bytes\22:512,
coll.program @tokens ranks [0 to 3] {
  func.func @step(%x: tensor<3x4xf32>, %e: tensor<3x2xi64>, %w: tensor<3x2xf32>) -> tensor<3x4xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    // dispatch is entry 17, combine entry 18.
    // CHECK: llvm.getelementptr %{{.*}}[144]
    // CHECK: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64, i32, i64, i32, i32, i32, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i32) -> i32
    %rows, %row_experts, %row_weights, %counts, %first =
        coll.dispatch %x to %e weights %w local_experts 2 capacity 8 over @m["dp"]
        : tensor<3x4xf32>, tensor<3x2xi64>, tensor<3x2xf32>
    %y, %last = scf.for %i = %zero to %two step %one iter_args(%at = %x, %route = %first)
        -> (tensor<3x4xf32>, !coll.route<3 topk 2 to 8 over @m["dp"]>) {
      // CHECK: llvm.getelementptr %{{.*}}[152]
      %sum = coll.combine %rows along %route : tensor<8x4xf32>, !coll.route<3 topk 2 to 8 over @m["dp"]>
      scf.yield %sum, %route : tensor<3x4xf32>, !coll.route<3 topk 2 to 8 over @m["dp"]>
    }
    return %y : tensor<3x4xf32>
  }
}
