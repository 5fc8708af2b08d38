// RUN: coll-opt %s | coll-opt | FileCheck %s

// CHECK-LABEL: exec.function @step
// CHECK: exec.fused_gemm "bias_gelu" %{{.+}}, %{{.+}} with %{{.+}} into %{{.+}} keeps %{{.+}} of bf16 to f32 trans_b mnk [4, 5, 6] lds [6, 6, 5]
// CHECK: exec.fused_gemm "relu" %{{.+}}, %{{.+}} into %{{.+}} of f32 precision "tf32" trans_a mnk [5, 5, 4] lds [5, 5, 5]
exec.function @step(tensor<4x6xbf16>, tensor<5x6xbf16>, tensor<5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<5x5xf32>) updates [-1, -1, -1] arena 0 {
^bb0(%a: !exec.buffer, %b: !exec.buffer, %bias: !exec.buffer, %h: !exec.buffer, %x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  exec.fused_gemm "bias_gelu" %a, %b with %bias into %h keeps %x of bf16 to f32 trans_b mnk [4, 5, 6] lds [6, 6, 5]
  exec.fused_gemm "relu" %h, %x into %r of f32 precision "tf32" trans_a mnk [5, 5, 4] lds [5, 5, 5]
  exec.return
}
