// RUN: coll-opt %s --verify-diagnostics --split-input-file

// all_to_all_c1
func.func @all_to_all_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{split_dim 2 is not a dimension of 'tensor<4x6xf32>'}}
  %r = coll.all_to_all %x split 2 concat 1 over [[0, 1]] : tensor<4x6xf32> -> tensor<2x12xf32>
  return
}

// -----

func.func @all_to_all_c1_concat(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{concat_dim -1 is not a dimension of 'tensor<4x6xf32>'}}
  %r = coll.all_to_all %x split 0 concat -1 over [[0, 1]] : tensor<4x6xf32> -> tensor<2x12xf32>
  return
}

// -----

// all_to_all_c2
func.func @all_to_all_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{a group of 3 does not divide dimension 0 of length 4}}
  %r = coll.all_to_all %x split 0 concat 1 over [[0, 1, 2]] : tensor<4x6xf32> -> tensor<2x12xf32>
  return
}

// -----

// all_to_all_c3
func.func @all_to_all_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{result must be 'tensor<2x12xf32>', but is 'tensor<4x6xf32>'}}
  %r = coll.all_to_all %x split 0 concat 1 over [[0, 1]] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}
