// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @rank_lists
// CHECK-SAME: (%[[X:.+]]: tensor<8xf32>)
func.func @rank_lists(%x: tensor<8xf32>) {
  // CHECK: %[[R:.+]] = coll.scatter %[[X]] dim 0 from 1 over {{\[\[}}0, 1]] : tensor<8xf32> -> tensor<4xf32>
  %r = coll.scatter %x dim 0 from 1 over [[0, 1]] : tensor<8xf32> -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @mesh_axis
// CHECK-SAME: (%[[X:.+]]: tensor<2x6xf32>)
func.func @mesh_axis(%x: tensor<2x6xf32>) {
  // CHECK: %[[R:.+]] = coll.scatter %[[X]] dim 1 from 0 over @m["tp"] : tensor<2x6xf32> -> tensor<2x3xf32>
  %r = coll.scatter %x dim 1 from 0 over @m["tp"] : tensor<2x6xf32> -> tensor<2x3xf32>
  return
}
