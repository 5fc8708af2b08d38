// RUN: coll-opt %s --verify-diagnostics --split-input-file

// send_c1
func.func @send_c1(%x: tensor<4xf32>, %p: index) {
  // expected-error@+1 {{tag must not be negative, but is -1}}
  coll.send %x to %p tag -1 over [[0, 1]] : tensor<4xf32>
  return
}
