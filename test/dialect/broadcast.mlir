// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @mesh_axis
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @mesh_axis(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.broadcast %[[X]] from 0 over @m["dp"] : tensor<4xf32>
  %r = coll.broadcast %x from 0 over @m["dp"] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @rank_lists
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @rank_lists(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.broadcast %[[X]] from 1 over {{\[\[}}0, 2], [1, 3]] : tensor<4xf32>
  %r = coll.broadcast %x from 1 over [[0, 2], [1, 3]] : tensor<4xf32>
  return
}
