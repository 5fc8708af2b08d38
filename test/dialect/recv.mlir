// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @tagged
// CHECK-SAME: (%[[P:.+]]: index)
func.func @tagged(%p: index) {
  // CHECK: %[[R:.+]] = coll.recv from %[[P]] tag 3 over @m["dp"] : tensor<4xf32>
  %r = coll.recv from %p tag 3 over @m["dp"] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @untagged
// CHECK-SAME: (%[[P:.+]]: index)
func.func @untagged(%p: index) {
  // CHECK: %[[R:.+]] = coll.recv from %[[P]] over {{\[\[}}0, 1]] : tensor<4xf32>
  %r = coll.recv from %p over [[0, 1]] : tensor<4xf32>
  return
}
