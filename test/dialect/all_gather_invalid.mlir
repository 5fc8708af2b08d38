// RUN: coll-opt %s --verify-diagnostics --split-input-file

// all_gather_c1
func.func @all_gather_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim 1 is not a dimension of 'tensor<4xf32>'}}
  %r = coll.all_gather %x dim 1 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @all_gather_c1_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{dim 0 is not a dimension of 'tensor<f32>'}}
  %r = coll.all_gather %x dim 0 over [[0, 1]] : tensor<f32> -> tensor<f32>
  return
}

// -----

// all_gather_c2
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @all_gather_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{result must be 'tensor<16xf32>', but is 'tensor<8xf32>'}}
  %r = coll.all_gather %x dim 0 over @m["dp"] : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @all_gather_c2_element_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{result must be 'tensor<8xf32>', but is 'tensor<8xf64>'}}
  %r = coll.all_gather %x dim 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf64>
  return
}

// -----

func.func @all_gather_c2_overflow(%x: tensor<9223372036854775807xf32>) {
  // expected-error@+1 {{dimension 0 of the result does not fit 64 bits}}
  %r = coll.all_gather %x dim 0 over [[0, 1]] : tensor<9223372036854775807xf32> -> tensor<8xf32>
  return
}
