// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["ep" = 4]

// CHECK-LABEL: func.func @there_and_back
// CHECK-SAME: (%[[X:.+]]: tensor<16x32xf32>, %[[E:.+]]: tensor<16x2xi64>, %[[W:.+]]: tensor<16x2xf32>)
func.func @there_and_back(%x: tensor<16x32xf32>, %e: tensor<16x2xi64>, %w: tensor<16x2xf32>)
    -> (tensor<64x2xi64>, tensor<3xi32>, tensor<16x32xf32>) {
  // CHECK: %[[ROWS:.+]], %[[ROW_EXPERTS:.+]], %{{.+}}, %[[COUNTS:.+]], %[[ROUTE:.+]] = coll.dispatch %[[X]] to %[[E]] weights %[[W]] local_experts 3 capacity 64 over @m["ep"] : tensor<16x32xf32>, tensor<16x2xi64>, tensor<16x2xf32>
  %rows, %row_experts, %row_weights, %counts, %route =
      coll.dispatch %x to %e weights %w local_experts 3 capacity 64 over @m["ep"]
      : tensor<16x32xf32>, tensor<16x2xi64>, tensor<16x2xf32>
  // CHECK: %[[Y:.+]] = coll.combine %[[ROWS]] along %[[ROUTE]] : tensor<64x32xf32>, !coll.route<16 topk 2 to 64 over @m["ep"]>
  %y = coll.combine %rows along %route : tensor<64x32xf32>, !coll.route<16 topk 2 to 64 over @m["ep"]>
  // CHECK: return %[[ROW_EXPERTS]], %[[COUNTS]], %[[Y]]
  return %row_experts, %counts, %y : tensor<64x2xi64>, tensor<3xi32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @scales
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<8x2xf32>)
func.func @scales(%x: tensor<8x256xf8E4M3FN>, %e: tensor<8x2xi32>, %w: tensor<8x2xf32>, %s: tensor<8x2xf32>)
    -> (tensor<10x256xf8E4M3FN>, tensor<10x2xf32>) {
  // CHECK: %[[ROWS:.+]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[ROW_SCALES:.+]] = coll.dispatch %{{.+}} to %{{.+}} weights %{{.+}} scales %[[S]] local_experts 1 capacity 10 over {{\[\[}}0, 1]] : tensor<8x256xf8E4M3FN>, tensor<8x2xi32>, tensor<8x2xf32>, tensor<8x2xf32>
  %rows, %row_experts, %row_weights, %counts, %route, %row_scales =
      coll.dispatch %x to %e weights %w scales %s local_experts 1 capacity 10 over [[0, 1]]
      : tensor<8x256xf8E4M3FN>, tensor<8x2xi32>, tensor<8x2xf32>, tensor<8x2xf32>
  // CHECK: return %[[ROWS]], %[[ROW_SCALES]]
  return %rows, %row_scales : tensor<10x256xf8E4M3FN>, tensor<10x2xf32>
}

// A rank may have no tokens, or no room for any.
// CHECK-LABEL: func.func @empty
func.func @empty(%x: tensor<0x4xf32>, %e: tensor<0x1xi32>, %w: tensor<0x1xf32>) {
  // CHECK: coll.dispatch {{.*}} capacity 0 over
  %rows, %row_experts, %row_weights, %counts, %route =
      coll.dispatch %x to %e weights %w local_experts 1 capacity 0 over [[0, 1]]
      : tensor<0x4xf32>, tensor<0x1xi32>, tensor<0x1xf32>
  return
}

// Nothing of it is erased or merged, used or not: the other members wait for it.
// CHECK-LABEL: func.func @unused
func.func @unused(%x: tensor<4x4xf32>, %e: tensor<4x1xi32>, %w: tensor<4x1xf32>) {
  // CHECK-COUNT-2: coll.dispatch
  %a:5 = coll.dispatch %x to %e weights %w local_experts 1 capacity 4 over [[0]]
      : tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>
  %b:5 = coll.dispatch %x to %e weights %w local_experts 1 capacity 4 over [[0]]
      : tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>
  return
}

// RUN: coll-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT
// KEPT-LABEL: func.func @unused
// KEPT-COUNT-2: coll.dispatch

// A route goes where control flow goes.
// CHECK-LABEL: func.func @through_a_loop
func.func @through_a_loop(%x: tensor<4x4xf32>, %e: tensor<4x1xi32>, %w: tensor<4x1xf32>, %n: index)
    -> tensor<4x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows, %row_experts, %row_weights, %counts, %first =
      coll.dispatch %x to %e weights %w local_experts 1 capacity 8 over [[0, 1]]
      : tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>
  // CHECK: scf.for {{.*}} -> (tensor<4x4xf32>, !coll.route<4 topk 1 to 8 over {{\[\[}}0, 1]]>)
  %y, %last = scf.for %i = %zero to %n step %one iter_args(%at = %x, %route = %first)
      -> (tensor<4x4xf32>, !coll.route<4 topk 1 to 8 over [[0, 1]]>) {
    %sum = coll.combine %rows along %route : tensor<8x4xf32>, !coll.route<4 topk 1 to 8 over [[0, 1]]>
    scf.yield %sum, %route : tensor<4x4xf32>, !coll.route<4 topk 1 to 8 over [[0, 1]]>
  }
  return %y : tensor<4x4xf32>
}
