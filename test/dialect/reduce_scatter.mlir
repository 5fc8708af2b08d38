// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @rank_lists
// CHECK-SAME: (%[[X:.+]]: tensor<8xf32>)
func.func @rank_lists(%x: tensor<8xf32>) {
  // CHECK: %[[R:.+]] = coll.reduce_scatter sum %[[X]] dim 0 over {{\[\[}}0, 1]] : tensor<8xf32> -> tensor<4xf32>
  %r = coll.reduce_scatter sum %x dim 0 over [[0, 1]] : tensor<8xf32> -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @ordered
// CHECK-SAME: (%[[X:.+]]: tensor<2x8xf32>)
func.func @ordered(%x: tensor<2x8xf32>) {
  // CHECK: %[[R:.+]] = coll.reduce_scatter sum %[[X]] dim 1 over @m["dp"] order rank : tensor<2x8xf32> -> tensor<2x2xf32>
  %r = coll.reduce_scatter sum %x dim 1 over @m["dp"] order rank : tensor<2x8xf32> -> tensor<2x2xf32>
  return
}

// CHECK-LABEL: func.func @in_f32
// CHECK-SAME: (%[[X:.+]]: tensor<8xf8E5M2>)
func.func @in_f32(%x: tensor<8xf8E5M2>) {
  // CHECK: %[[R:.+]] = coll.reduce_scatter sum in f32 %[[X]] dim 0 over @m["dp"] : tensor<8xf8E5M2> -> tensor<2xf8E5M2>
  %r = coll.reduce_scatter sum in f32 %x dim 0 over @m["dp"] : tensor<8xf8E5M2> -> tensor<2xf8E5M2>
  return
}
