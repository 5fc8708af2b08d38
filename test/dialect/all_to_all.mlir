// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @split_and_concat
// CHECK-SAME: (%[[X:.+]]: tensor<4x6xf32>)
func.func @split_and_concat(%x: tensor<4x6xf32>) {
  // CHECK: %[[R:.+]] = coll.all_to_all %[[X]] split 0 concat 1 over {{\[\[}}0, 1]] : tensor<4x6xf32> -> tensor<2x12xf32>
  %r = coll.all_to_all %x split 0 concat 1 over [[0, 1]] : tensor<4x6xf32> -> tensor<2x12xf32>
  return
}

// CHECK-LABEL: func.func @same_dimension
// CHECK-SAME: (%[[X:.+]]: tensor<4x6xf32>)
func.func @same_dimension(%x: tensor<4x6xf32>) {
  // CHECK: %[[R:.+]] = coll.all_to_all %[[X]] split 0 concat 0 over @m["dp"] : tensor<4x6xf32> -> tensor<4x6xf32>
  %r = coll.all_to_all %x split 0 concat 0 over @m["dp"] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}
