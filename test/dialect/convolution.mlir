// RUN: coll-opt %s | coll-opt | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK: coll.convolution "forward" %{{.*}}, %{{.*}} precision "high" sizes [2, 1, 3, 8] input [9, 9] window [3, 3]
// CHECK-SAME: output [5, 5] strides [2, 2] dilations [1, 1] pads [1, 1]
// CHECK-SAME: : tensor<2x9x9x3xf32>, tensor<8x3x3x3xf32> -> tensor<2x5x5x8xf32>
func.func @forward(%x: tensor<2x9x9x3xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<2x5x5x8xf32> {
  %y = coll.convolution "forward" %x, %w precision "high" sizes [2, 1, 3, 8] input [9, 9] window [3, 3] output [5, 5]
    strides [2, 2] dilations [1, 1] pads [1, 1] : tensor<2x9x9x3xf32>, tensor<8x3x3x3xf32> -> tensor<2x5x5x8xf32>
  return %y : tensor<2x5x5x8xf32>
}

// Groups, in one dimension.
// CHECK-LABEL: func.func @gradients
// CHECK: coll.convolution "data"
// CHECK: coll.convolution "filter"
func.func @gradients(%x: tensor<2x10x2x3xbf16>, %w: tensor<2x4x5x3xbf16>, %dy: tensor<2x10x2x4xbf16>)
    -> (tensor<2x10x2x3xbf16>, tensor<2x4x5x3xbf16>) {
  %dx = coll.convolution "data" %dy, %w sizes [2, 2, 3, 4] input [10] window [5] output [10] strides [1] dilations [1]
    pads [2] : tensor<2x10x2x4xbf16>, tensor<2x4x5x3xbf16> -> tensor<2x10x2x3xbf16>
  %dw = coll.convolution "filter" %x, %dy sizes [2, 2, 3, 4] input [10] window [5] output [10] strides [1] dilations [1]
    pads [2] : tensor<2x10x2x3xbf16>, tensor<2x10x2x4xbf16> -> tensor<2x4x5x3xbf16>
  return %dx, %dw : tensor<2x10x2x3xbf16>, tensor<2x4x5x3xbf16>
}
