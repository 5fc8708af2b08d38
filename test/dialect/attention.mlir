// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[Q:.+]]: tensor<2x32x24xbf16>, %[[K:.+]]: tensor<2x64x8xbf16>)
func.func @forward(%q: tensor<2x32x24xbf16>, %k: tensor<2x64x8xbf16>) {
  // CHECK: %{{.+}}, %{{.+}} = coll.attention %[[Q]] at [8, 768, 8, 24], %[[K]] at [0, 512, 0, 8], %[[K]] at [0, 512, 0, 8] to [0, 512, 256, 8] sizes [2, 2, 1, 32, 64, 8] scale 1.250000e-01 causal precision "high" : tensor<2x32x24xbf16>, tensor<2x64x8xbf16>, tensor<2x64x8xbf16> -> tensor<2x2x32x8xbf16>, tensor<2x2x32xf32>
  %o, %lse = coll.attention %q at [8, 768, 8, 24], %k at [0, 512, 0, 8], %k at [0, 512, 0, 8]
     to [0, 512, 256, 8] sizes [2, 2, 1, 32, 64, 8] scale 1.250000e-01 causal precision "high"
     : tensor<2x32x24xbf16>, tensor<2x64x8xbf16>, tensor<2x64x8xbf16> -> tensor<2x2x32x8xbf16>, tensor<2x2x32xf32>
  return
}

// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[X:.+]]: tensor<2x8x8xf32>, %[[LSE:.+]]: tensor<2x8xf32>)
func.func @gradient(%x: tensor<2x8x8xf32>, %lse: tensor<2x8xf32>) {
  // CHECK: %{{.+}}, %{{.+}}, %{{.+}} = coll.attention_gradient %[[X]] at [0, 0, 64, 8], %[[X]] at [0, 0, 64, 8], %[[X]] at [0, 0, 64, 8], %[[X]] at [0, 0, 64, 8], %[[LSE]], %[[X]] at [0, 0, 64, 8] to [0, 0, 64, 8], [0, 0, 64, 8], [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 8] scale 1.000000e+00 :
  %dq, %dk, %dv = coll.attention_gradient %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
     %x at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8] to [0, 0, 64, 8], [0, 0, 64, 8], [0, 0, 64, 8]
     sizes [1, 2, 2, 8, 8, 8] scale 1.000000e+00
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8xf32>,
       tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
  return
}
