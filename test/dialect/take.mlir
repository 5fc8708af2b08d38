// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[T:.+]]: tensor<128x64xf32>, %[[I:.+]]: tensor<8x32x1xi32>)
func.func @rows(%t: tensor<128x64xf32>, %i: tensor<8x32x1xi32>) {
  // CHECK: %[[R:.+]] = coll.take %[[T]][%[[I]]] offset_dims [2] collapsed_dims [0] index_map [0] slice_sizes [1, 64] : tensor<128x64xf32>, tensor<8x32x1xi32> -> tensor<8x32x64xf32>
  %r = coll.take %t[%i] offset_dims [2] collapsed_dims [0] index_map [0] slice_sizes [1, 64] : tensor<128x64xf32>, tensor<8x32x1xi32> -> tensor<8x32x64xf32>
  return
}

// CHECK-LABEL: func.func @batched
// CHECK-SAME: (%[[T:.+]]: tensor<4x9xf32>, %[[I:.+]]: tensor<4x5x1xi64>)
func.func @batched(%t: tensor<4x9xf32>, %i: tensor<4x5x1xi64>) {
  // CHECK: %[[R:.+]] = coll.take %[[T]][%[[I]]] collapsed_dims [1] operand_batch_dims [0] indices_batch_dims [0] index_map [1] slice_sizes [1, 1] : tensor<4x9xf32>, tensor<4x5x1xi64> -> tensor<4x5xf32>
  %r = coll.take %t[%i] collapsed_dims [1] operand_batch_dims [0] indices_batch_dims [0] index_map [1] slice_sizes [1, 1] : tensor<4x9xf32>, tensor<4x5x1xi64> -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: func.func @one_window
// CHECK-SAME: (%[[T:.+]]: tensor<9x9xf32>, %[[I:.+]]: tensor<2xui8>)
func.func @one_window(%t: tensor<9x9xf32>, %i: tensor<2xui8>) {
  // CHECK: %[[R:.+]] = coll.take %[[T]][%[[I]]] offset_dims [0, 1] index_map [1, 0] slice_sizes [3, 4] : tensor<9x9xf32>, tensor<2xui8> -> tensor<3x4xf32>
  %r = coll.take %t[%i] offset_dims [0, 1] index_map [1, 0] slice_sizes [3, 4] : tensor<9x9xf32>, tensor<2xui8> -> tensor<3x4xf32>
  return
}
