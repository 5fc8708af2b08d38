// RUN: coll-opt %s --coll-outline-kernels --split-input-file --verify-diagnostics

func.func @unpack(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{'tensor.concat' cannot be part of a kernel and is not allowed between kernels}}
  %r = tensor.concat dim(0) %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
