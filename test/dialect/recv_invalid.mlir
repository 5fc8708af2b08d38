// RUN: coll-opt %s --verify-diagnostics --split-input-file

// recv_c1
func.func @recv_c1(%p: index) {
  // expected-error@+1 {{tag must not be negative, but is -7}}
  %r = coll.recv from %p tag -7 over [[0, 1]] : tensor<4xf32>
  return
}
