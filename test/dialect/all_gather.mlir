// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @rank_lists
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @rank_lists(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.all_gather %[[X]] dim 0 over {{\[\[}}0, 1, 2, 3]] : tensor<4xf32> -> tensor<16xf32>
  %r = coll.all_gather %x dim 0 over [[0, 1, 2, 3]] : tensor<4xf32> -> tensor<16xf32>
  return
}

// CHECK-LABEL: func.func @mesh_axes
// CHECK-SAME: (%[[X:.+]]: tensor<2x3xi32>)
func.func @mesh_axes(%x: tensor<2x3xi32>) {
  // CHECK: %[[R:.+]] = coll.all_gather %[[X]] dim 1 over @m["dp", "tp"] : tensor<2x3xi32> -> tensor<2x24xi32>
  %r = coll.all_gather %x dim 1 over @m["dp", "tp"] : tensor<2x3xi32> -> tensor<2x24xi32>
  return
}
