// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @tagged
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>, %[[P:.+]]: index)
func.func @tagged(%x: tensor<4xf32>, %p: index) {
  // CHECK: coll.send %[[X]] to %[[P]] tag 3 over @m["dp"] : tensor<4xf32>
  coll.send %x to %p tag 3 over @m["dp"] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @untagged
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>, %[[P:.+]]: index)
func.func @untagged(%x: tensor<4xf32>, %p: index) {
  // CHECK: coll.send %[[X]] to %[[P]] over {{\[\[}}0, 1]] : tensor<4xf32>
  coll.send %x to %p over [[0, 1]] : tensor<4xf32>
  return
}
