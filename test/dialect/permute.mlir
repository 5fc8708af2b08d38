// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @swap
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @swap(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.permute %[[X]] pairs {{\[\[}}0, 1], [1, 0]] over {{\[\[}}0, 1]] : tensor<4xf32>
  %r = coll.permute %x pairs [[0, 1], [1, 0]] over [[0, 1]] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @shift
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @shift(%x: tensor<4xf32>) {
  // CHECK: coll.permute %[[X]] shift -3 over @m["dp"] : tensor<4xf32>
  %0 = coll.permute %x shift -3 over @m["dp"] : tensor<4xf32>
  // CHECK: coll.permute %[[X]] shift 1 wraps over @m["dp", "tp"] : tensor<4xf32>
  %1 = coll.permute %x shift 1 wraps over @m["dp", "tp"] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @no_pair
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @no_pair(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.permute %[[X]] pairs [] over @m["dp"] : tensor<4xf32>
  %r = coll.permute %x pairs [] over @m["dp"] : tensor<4xf32>
  return
}
