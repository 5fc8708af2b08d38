// RUN: coll-opt %s | coll-opt | FileCheck %s

// CHECK: exec.function @step
// CHECK-SAME: updates [-1, -1] arena 2048
// CHECK: exec.attention %[[X:.+]] at [0, 0, 64, 8], %[[X]] at [0, 0, 64, 8], %[[X]] at [0, 0, 64, 8] to %[[O:.+]] at [0, 0, 64, 8], %[[LSE:.+]] of f32 sizes [1, 2, 2, 8, 8, 8] scale 5.000000e-01 causal precision "tf32"
// CHECK: exec.attention_gradient %[[X]] at [0, 0, 64, 8], %[[X]] at [0, 0, 64, 8], %[[X]] at [0, 0, 64, 8], %[[O]] at [0, 0, 64, 8], %[[LSE]], %[[X]] at [0, 0, 64, 8] to %{{.+}} at [0, 0, 64, 8], %{{.+}} at [0, 0, 64, 8], %{{.+}} at [0, 0, 64, 8] scratch %{{.+}} of f32 sizes [1, 2, 2, 8, 8, 8] scale 5.000000e-01 causal
exec.function @step(tensor<2x8x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x8xf32>) updates [-1, -1] arena 2048 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %lse: !exec.buffer, %arena: !exec.buffer):
  %dq = exec.view %arena[0 for 512]
  %dk = exec.view %arena[512 for 512]
  %dv = exec.view %arena[1024 for 512]
  %scratch = exec.view %arena[1536 for 64]
  exec.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %lse of f32 sizes [1, 2, 2, 8, 8, 8] scale 0.5 causal precision "tf32"
  exec.attention_gradient %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
    %o at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8]
    to %dq at [0, 0, 64, 8], %dk at [0, 0, 64, 8], %dv at [0, 0, 64, 8] scratch %scratch
    of f32 sizes [1, 2, 2, 8, 8, 8] scale 0.5 causal
  exec.return
}
