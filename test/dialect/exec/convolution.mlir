// RUN: coll-opt %s | coll-opt | FileCheck %s

// CHECK-LABEL: exec.function @step
// CHECK: exec.convolution "forward" %{{.*}}, %{{.*}} into %{{.*}} of f32 precision "tf32" sizes [2, 1, 3, 8] input [9, 9]
// CHECK-SAME: window [3, 3] output [5, 5] strides [2, 2] dilations [1, 1] pads [1, 1]
exec.function @step(tensor<2x9x9x3xf32>, tensor<8x3x3x3xf32>) -> tensor<2x5x5x8xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %w: !exec.buffer, %y: !exec.buffer, %arena: !exec.buffer):
  exec.convolution "forward" %x, %w into %y of f32 precision "tf32" sizes [2, 1, 3, 8] input [9, 9] window [3, 3]
    output [5, 5] strides [2, 2] dilations [1, 1] pads [1, 1]
  exec.return
}
