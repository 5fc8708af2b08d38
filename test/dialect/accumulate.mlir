// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

// CHECK-LABEL: func.func @add_rows
// CHECK-SAME: (%[[U:.+]]: tensor<8x64xf32>, %[[T:.+]]: tensor<128x64xf32>, %[[I:.+]]: tensor<8x1xi32>)
func.func @add_rows(%u: tensor<8x64xf32>, %t: tensor<128x64xf32>, %i: tensor<8x1xi32>) {
  // CHECK: %[[R:.+]] = coll.accumulate %[[U]] into %[[T]][%[[I]]] window_dims [1] inserted_dims [0] index_map [0] {
  // CHECK-NEXT: ^{{.+}}(%[[A:.+]]: f32, %[[B:.+]]: f32):
  // CHECK-NEXT: %[[S:.+]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK-NEXT: coll.yield %[[S]] : f32
  // CHECK-NEXT: } : tensor<8x64xf32>, tensor<128x64xf32>, tensor<8x1xi32>
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    coll.yield %s : f32
  } : tensor<8x64xf32>, tensor<128x64xf32>, tensor<8x1xi32>
  return
}

// CHECK-LABEL: func.func @batched_unique
// CHECK-SAME: (%[[U:.+]]: tensor<4x5xf32>, %[[T:.+]]: tensor<4x9xf32>, %[[I:.+]]: tensor<4x5x1xi64>)
func.func @batched_unique(%u: tensor<4x5xf32>, %t: tensor<4x9xf32>, %i: tensor<4x5x1xi64>) {
  // CHECK: %[[R:.+]] = coll.accumulate %[[U]] into %[[T]][%[[I]]] inserted_dims [1] operand_batch_dims [0] indices_batch_dims [0] index_map [1] unique {
  // CHECK-NEXT: ^{{.+}}(%[[A:.+]]: f32, %[[B:.+]]: f32):
  // CHECK-NEXT: coll.yield %[[B]] : f32
  // CHECK-NEXT: } : tensor<4x5xf32>, tensor<4x9xf32>, tensor<4x5x1xi64>
  %r = coll.accumulate %u into %t[%i] inserted_dims [1] operand_batch_dims [0] indices_batch_dims [0] index_map [1] unique {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<4x5xf32>, tensor<4x9xf32>, tensor<4x5x1xi64>
  return
}
