// RUN: coll-opt %s --verify-diagnostics --split-input-file

// reduce_c1
func.func @reduce_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{reduction or needs integer elements, but has 'f32'}}
  %r = coll.reduce or %x to 0 over [[0, 1]] : tensor<4xf32>
  return
}

// -----

// reduce_c2
func.func @reduce_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{root 2 is not within a group of 2}}
  %r = coll.reduce sum %x to 2 over [[0, 1]] : tensor<4xf32>
  return
}

// -----

coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @reduce_c2_negative(%x: tensor<4xf32>) {
  // expected-error@+1 {{root -1 is not within a group of 4}}
  %r = coll.reduce sum %x to -1 over @m["dp"] : tensor<4xf32>
  return
}

// -----

// reduce_c3
func.func @reduce_c3(%x: tensor<4xf64>) {
  // expected-error@+1 {{combines 'f64' elements in 'f32'}}
  %r = coll.reduce sum in f32 %x to 0 over [[0, 1]] : tensor<4xf64>
  return
}
