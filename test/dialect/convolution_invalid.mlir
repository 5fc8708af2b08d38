// RUN: coll-opt %s --verify-diagnostics --split-input-file

// convolution_c1
func.func @f(%x: tensor<1x4x1xi32>, %w: tensor<1x3x1xi32>) {
  // expected-error@+1 {{elements must all be f32, f64, bf16 or f16, but are 'i32' and 'i32'}}
  %y = coll.convolution "forward" %x, %w sizes [1, 1, 1, 1] input [4] window [3] output [2] strides [1] dilations [1]
    pads [0] : tensor<1x4x1xi32>, tensor<1x3x1xi32> -> tensor<1x2x1xi32>
  return
}

// -----

// convolution_c2
func.func @f(%x: tensor<1x4x1xf32>, %w: tensor<1x3x1xf32>) {
  // expected-error@+1 {{kind must be forward, data or filter, but is "back"}}
  %y = coll.convolution "back" %x, %w sizes [1, 1, 1, 1] input [4] window [3] output [2] strides [1] dilations [1]
    pads [0] : tensor<1x4x1xf32>, tensor<1x3x1xf32> -> tensor<1x2x1xf32>
  return
}

// -----

// convolution_c3
func.func @f(%x: tensor<1x4x1xf32>, %w: tensor<1x3x1xf32>) {
  // expected-error@+1 {{sizes must be four numbers, and input, window, output, strides, dilations and pads one to three each}}
  %y = coll.convolution "forward" %x, %w sizes [1, 1, 1, 1] input [4] window [3] output [2] strides [1, 1] dilations [1]
    pads [0] : tensor<1x4x1xf32>, tensor<1x3x1xf32> -> tensor<1x2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x1xf32>, %w: tensor<1x3x1xf32>) {
  // expected-error@+1 {{sizes, strides and dilations must be at least 1, but one is 0}}
  %y = coll.convolution "forward" %x, %w sizes [1, 1, 1, 1] input [4] window [3] output [2] strides [0] dilations [1]
    pads [0] : tensor<1x4x1xf32>, tensor<1x3x1xf32> -> tensor<1x2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x1xf32>, %w: tensor<1x3x1xf32>) {
  // expected-error@+1 {{pads must not be negative, but one is -1}}
  %y = coll.convolution "forward" %x, %w sizes [1, 1, 1, 1] input [4] window [3] output [2] strides [1] dilations [1]
    pads [-1] : tensor<1x4x1xf32>, tensor<1x3x1xf32> -> tensor<1x2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x1xf32>, %w: tensor<1x3x1xf32>) {
  // expected-error@+1 {{the tensors must have less than 2^63 elements}}
  %y = coll.convolution "forward" %x, %w sizes [4611686018427387904, 1, 4, 1] input [4] window [3] output [2] strides [1]
    dilations [1] pads [0] : tensor<1x4x1xf32>, tensor<1x3x1xf32> -> tensor<1x2x1xf32>
  return
}

// -----

// convolution_c4
func.func @f(%x: tensor<1x4x1xf32>, %w: tensor<1x3x1xf32>) {
  // expected-error@+1 {{needs 8 elements, but has 'tensor<1x4x1xf32>'}}
  %y = coll.convolution "forward" %x, %w sizes [1, 1, 1, 1] input [8] window [3] output [2] strides [1] dilations [1]
    pads [0] : tensor<1x4x1xf32>, tensor<1x3x1xf32> -> tensor<1x2x1xf32>
  return
}

// -----

// convolution_c5
func.func @f(%x: tensor<1x4x1xf32>, %w: tensor<1x3x1xf32>) {
  // expected-error@+1 {{precision must be highest or high, but is "tf32"}}
  %y = coll.convolution "forward" %x, %w precision "tf32" sizes [1, 1, 1, 1] input [4] window [3] output [2] strides [1]
    dilations [1] pads [0] : tensor<1x4x1xf32>, tensor<1x3x1xf32> -> tensor<1x2x1xf32>
  return
}
