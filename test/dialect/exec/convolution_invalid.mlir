// RUN: coll-opt %s --verify-diagnostics --split-input-file

// exec_convolution_c1
exec.function @step(tensor<4xi32>, tensor<3xi32>) -> tensor<2xi32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %w: !exec.buffer, %y: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{elements must be f32, f64, bf16 or f16, but are 'i32'}}
  exec.convolution "forward" %x, %w into %y of i32 sizes [1, 1, 1, 1] input [4] window [3] output [2] strides [1]
    dilations [1] pads [0]
  exec.return
}

// -----

exec.function @step(tensor<4xf32>, tensor<3xf32>) -> tensor<2xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %w: !exec.buffer, %y: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{precision must be highest, tf32 or bf16, but is "high"}}
  exec.convolution "forward" %x, %w into %y of f32 precision "high" sizes [1, 1, 1, 1] input [4] window [3] output [2]
    strides [1] dilations [1] pads [0]
  exec.return
}

// -----

// exec_convolution_c2
exec.function @step(tensor<4xf32>, tensor<3xf32>) -> tensor<2xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %w: !exec.buffer, %y: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{kind must be forward, data or filter, but is "y"}}
  exec.convolution "y" %x, %w into %y of f32 sizes [1, 1, 1, 1] input [4] window [3] output [2] strides [1] dilations [1]
    pads [0]
  exec.return
}

// -----

// exec_convolution_c3
exec.function @step(tensor<4xf32>, tensor<3xf32>) -> tensor<2xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %w: !exec.buffer, %y: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{sizes must be four numbers}}
  exec.convolution "forward" %x, %w into %y of f32 sizes [1, 1, 1] input [4] window [3] output [2] strides [1]
    dilations [1] pads [0]
  exec.return
}

// -----

// exec_convolution_c4
exec.function @step(tensor<4xf32>, tensor<3xf32>) -> tensor<2xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %w: !exec.buffer, %y: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{operand 0 needs 5 elements, but has 16 bytes}}
  exec.convolution "forward" %x, %w into %y of f32 sizes [1, 1, 1, 1] input [5] window [3] output [2] strides [1]
    dilations [1] pads [0]
  exec.return
}

// -----

// exec_convolution_c5
exec.function @step(tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %w: !exec.buffer, %y: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{writes read-only memory}}
  exec.convolution "data" %y, %w into %x of f32 sizes [1, 1, 1, 1] input [4] window [3] output [4] strides [1]
    dilations [1] pads [1]
  exec.return
}

// -----

exec.function @step(tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32> updates [0] arena 0 {
^bb0(%x: !exec.buffer, %w: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{the result overlaps an operand}}
  exec.convolution "forward" %x, %w into %x of f32 sizes [1, 1, 1, 1] input [4] window [3] output [4] strides [1]
    dilations [1] pads [1]
  exec.return
}
