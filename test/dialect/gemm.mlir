// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

// CHECK-LABEL: func.func @plain
// CHECK-SAME: (%[[A:.+]]: tensor<4x6xf32>, %[[B:.+]]: tensor<6x5xf32>, %[[C:.+]]: tensor<4x5xf32>)
func.func @plain(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) {
  // CHECK: %[[R:.+]] = coll.gemm %[[A]], %[[B]] into %[[C]] mnk [4, 5, 6] lds [6, 5, 5] : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
  %r = coll.gemm %a, %b into %c mnk [4, 5, 6] lds [6, 5, 5] : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
  return
}

// CHECK-LABEL: func.func @transposed
// CHECK-SAME: (%[[A:.+]]: tensor<6x4xf64>, %[[B:.+]]: tensor<5x6xf64>, %[[C:.+]]: tensor<4x5xf64>)
func.func @transposed(%a: tensor<6x4xf64>, %b: tensor<5x6xf64>, %c: tensor<4x5xf64>) {
  // CHECK: %[[R:.+]] = coll.gemm %[[A]], %[[B]] into %[[C]] trans_a trans_b accumulate mnk [4, 5, 6] lds [4, 6, 5] : tensor<6x4xf64>, tensor<5x6xf64>, tensor<4x5xf64>
  %r = coll.gemm %a, %b into %c trans_a trans_b accumulate mnk [4, 5, 6] lds [4, 6, 5] : tensor<6x4xf64>, tensor<5x6xf64>, tensor<4x5xf64>
  return
}

// CHECK-LABEL: func.func @batched
// CHECK-SAME: (%[[A:.+]]: tensor<3x4x6xf32>, %[[B:.+]]: tensor<6x5xf32>, %[[C:.+]]: tensor<3x4x5xf32>)
func.func @batched(%a: tensor<3x4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<3x4x5xf32>) {
  // CHECK: %[[R:.+]] = coll.gemm %[[A]], %[[B]] into %[[C]] mnk [4, 5, 6] lds [6, 5, 5] batch_sizes [3] batch_strides_a [24] batch_strides_b [0] batch_strides_c [20] : tensor<3x4x6xf32>, tensor<6x5xf32>, tensor<3x4x5xf32>
  %r = coll.gemm %a, %b into %c mnk [4, 5, 6] lds [6, 5, 5] batch_sizes [3] batch_strides_a [24] batch_strides_b [0] batch_strides_c [20] : tensor<3x4x6xf32>, tensor<6x5xf32>, tensor<3x4x5xf32>
  return
}

// CHECK-LABEL: func.func @narrow
func.func @narrow(%a: tensor<4x6xbf16>, %b: tensor<6x5xbf16>, %c: tensor<4x5xf32>, %d: tensor<4x5xbf16>) {
  // CHECK: coll.gemm %{{.+}}, %{{.+}} into %{{.+}} mnk [4, 5, 6] lds [6, 5, 5] : tensor<4x6xbf16>, tensor<6x5xbf16>, tensor<4x5xf32>
  %r = coll.gemm %a, %b into %c mnk [4, 5, 6] lds [6, 5, 5] : tensor<4x6xbf16>, tensor<6x5xbf16>, tensor<4x5xf32>
  // CHECK: coll.gemm %{{.+}}, %{{.+}} into %{{.+}} precision "high" trans_a mnk [5, 5, 4] lds [6, 5, 5] : tensor<4x6xbf16>, tensor<4x5xbf16>, tensor<5x5xbf16>
  %e = tensor.empty() : tensor<5x5xbf16>
  %s = coll.gemm %a, %d into %e precision "high" trans_a mnk [5, 5, 4] lds [6, 5, 5] : tensor<4x6xbf16>, tensor<4x5xbf16>, tensor<5x5xbf16>
  return
}

// Nothing is read, so no size is too small.
// CHECK-LABEL: func.func @empty
// CHECK-SAME: (%[[A:.+]]: tensor<0x6xf32>, %[[B:.+]]: tensor<6x5xf32>, %[[C:.+]]: tensor<0x5xf32>)
func.func @empty(%a: tensor<0x6xf32>, %b: tensor<6x5xf32>, %c: tensor<0x5xf32>) {
  // CHECK: %[[R:.+]] = coll.gemm %[[A]], %[[B]] into %[[C]] mnk [0, 5, 6] lds [6, 5, 5] : tensor<0x6xf32>, tensor<6x5xf32>, tensor<0x5xf32>
  %r = coll.gemm %a, %b into %c mnk [0, 5, 6] lds [6, 5, 5] : tensor<0x6xf32>, tensor<6x5xf32>, tensor<0x5xf32>
  return
}
