// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

// CHECK: coll.program @single ranks [3] {
// CHECK: }
coll.program @single ranks [3] {
}

// CHECK: coll.program @ranges ranks [0, 2 to 7, 9, 10] {
// CHECK: func.func @step(%{{.+}}: tensor<4xf32>) -> tensor<4xf32> {
// CHECK: return %{{.+}} : tensor<4xf32>
// CHECK: }
// CHECK: }
coll.program @ranges ranks [0, 2 to 7, 9, 10] {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
