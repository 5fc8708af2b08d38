// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @to_first
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @to_first(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.reduce sum %[[X]] to 0 over @m["dp"] : tensor<4xf32>
  %r = coll.reduce sum %x to 0 over @m["dp"] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @to_last_ordered
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @to_last_ordered(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.reduce max %[[X]] to 3 over @m["dp"] order rank : tensor<4xf32>
  %r = coll.reduce max %x to 3 over @m["dp"] order rank : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @in_f32
// CHECK-SAME: (%[[X:.+]]: tensor<4xf16>)
func.func @in_f32(%x: tensor<4xf16>) {
  // CHECK: %[[R:.+]] = coll.reduce sum in f32 %[[X]] to 0 over @m["dp"] : tensor<4xf16>
  %r = coll.reduce sum in f32 %x to 0 over @m["dp"] : tensor<4xf16>
  return
}
