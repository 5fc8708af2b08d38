// RUN: coll-opt %s --coll-to-exec="gpu=sm_90 precision=bf16" --coll-verify-exec | FileCheck %s

// Attention of f32 rounds factors to TF32 at most, and only where the step leaves that open. The gradient has scratch
// memory of its own.

// CHECK: exec.function @step
// CHECK: exec.attention %arg0 at [0, 0, 64, 8], %arg0 at [0, 0, 64, 8], %arg0 at [0, 0, 64, 8] to %[[O:.+]] at [0, 0, 64, 8], %[[LSE:.+]] of f32 sizes [1, 2, 2, 8, 8, 8] scale 5.000000e-01 causal precision "tf32"
// CHECK: exec.attention_gradient %arg0 at [0, 0, 64, 8], %arg0 at [0, 0, 64, 8], %arg0 at [0, 0, 64, 8], %[[O]] at [0, 0, 64, 8], %[[LSE]], %arg1 at [0, 0, 64, 8] to %{{.+}} at [0, 0, 64, 8], %{{.+}} at [0, 0, 64, 8], %{{.+}} at [0, 0, 64, 8] scratch %{{.+}} of f32 sizes [1, 2, 2, 8, 8, 8] scale 5.000000e-01 causal{{$}}
func.func @step(%x: tensor<2x8x8xf32>, %do: tensor<2x8x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) {
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 8] scale 0.5 causal
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  %dq, %dk, %dv = coll.attention_gradient %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
     %o at [0, 0, 64, 8], %lse, %do at [0, 0, 64, 8] to [0, 0, 64, 8], [0, 0, 64, 8], [0, 0, 64, 8]
     sizes [1, 2, 2, 8, 8, 8] scale 0.5 causal precision "highest"
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8xf32>,
       tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
  return %dq, %dk, %dv : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
}
