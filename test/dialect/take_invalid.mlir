// RUN: coll-opt %s --verify-diagnostics --split-input-file

// take_c1
func.func @take_c1(%t: tensor<8x4xf32>, %i: tensor<5x1xf32>) {
  // expected-error@+1 {{indices must have integer elements and rank >= 1, but are 'tensor<5x1xf32>'}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<5x1xf32> -> tensor<5x4xf32>
  return
}

// -----

func.func @take_c1_scalar(%t: tensor<8x4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{indices must have integer elements and rank >= 1, but are 'tensor<i32>'}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<i32> -> tensor<5x4xf32>
  return
}

// -----

func.func @take_c1_length(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{index_map has 2 entries, but the last dimension of the indices is 1}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [0, 1] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf32>
  return
}

// -----

// take_c2
func.func @take_c2(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{slice size 5 of dimension 1 is not within 0 to 4}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, 5] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf32>
  return
}

// -----

func.func @take_c2_negative(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{slice size -1 of dimension 1 is not within 0 to 4}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, -1] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf32>
  return
}

// -----

func.func @take_c2_count(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{slice_sizes has 1 entries, but the operand is 'tensor<8x4xf32>'}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf32>
  return
}

// -----

func.func @take_c2_collapsed(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{slice size of collapsed or batch dimension 0 must be 1, but is 2}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [2, 4] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf32>
  return
}

// -----

// take_c3
func.func @take_c3(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{collapsed_dims has 2, which is not within rank 2}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [2] index_map [0] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf32>
  return
}

// -----

func.func @take_c3_negative(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{index_map has -9223372036854775808, which is not within rank 2}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [-9223372036854775808] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf32>
  return
}

// -----

func.func @take_c3_twice(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{collapsed_dims has 0 twice}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0, 0] index_map [0] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf32>
  return
}

// -----

func.func @take_c3_order(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{collapsed_dims must ascend, but 0 follows 1}}
  %r = coll.take %t[%i] collapsed_dims [1, 0] index_map [0] slice_sizes [1, 1] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5xf32>
  return
}

// -----

func.func @take_c3_disjoint(%t: tensor<8x4xf32>, %i: tensor<8x1xi32>) {
  // expected-error@+1 {{dimension 0 is in collapsed_dims and in operand_batch_dims}}
  %r = coll.take %t[%i] collapsed_dims [0] operand_batch_dims [0] indices_batch_dims [0] index_map [1] slice_sizes [1, 1] : tensor<8x4xf32>, tensor<8x1xi32> -> tensor<5x4xf32>
  return
}

// -----

func.func @take_c3_batch_indexed(%t: tensor<8x4xf32>, %i: tensor<8x1xi32>) {
  // expected-error@+1 {{dimension 0 is in operand_batch_dims and in index_map}}
  %r = coll.take %t[%i] collapsed_dims [1] operand_batch_dims [0] indices_batch_dims [0] index_map [0] slice_sizes [1, 1] : tensor<8x4xf32>, tensor<8x1xi32> -> tensor<5x4xf32>
  return
}

// -----

// take_c4
func.func @take_c4(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{operand dimension 0 has length 8, but indices dimension 0 has length 5}}
  %r = coll.take %t[%i] collapsed_dims [1] operand_batch_dims [0] indices_batch_dims [0] index_map [1] slice_sizes [1, 1] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5xf32>
  return
}

// -----

func.func @take_c4_count(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{operand_batch_dims has 1 entries, but indices_batch_dims has 0}}
  %r = coll.take %t[%i] collapsed_dims [1] operand_batch_dims [0] index_map [1] slice_sizes [1, 1] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5xf32>
  return
}

// -----

func.func @take_c4_range(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{indices_batch_dims has 1, which is not within rank 1}}
  %r = coll.take %t[%i] collapsed_dims [1] operand_batch_dims [0] indices_batch_dims [1] index_map [1] slice_sizes [1, 1] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5xf32>
  return
}

// -----

// take_c5
func.func @take_c5(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{offset_dims has 2, which is not within rank 2}}
  %r = coll.take %t[%i] offset_dims [2] collapsed_dims [0] index_map [0] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf32>
  return
}

// -----

func.func @take_c5_count(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{offset_dims has 2 entries for 1 window dimensions}}
  %r = coll.take %t[%i] offset_dims [0, 1] collapsed_dims [0] index_map [0] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf32>
  return
}

// -----

// take_c6
func.func @take_c6(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{result must be 'tensor<5x4xf32>', but is 'tensor<5x3xf32>'}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x3xf32>
  return
}

// -----

func.func @take_c6_rank(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{result must have rank 2, but is 'tensor<5x4x1xf32>'}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4x1xf32>
  return
}

// -----

func.func @take_c6_element_type(%t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{result must be 'tensor<5x4xf32>', but is 'tensor<5x4xf64>'}}
  %r = coll.take %t[%i] offset_dims [1] collapsed_dims [0] index_map [0] slice_sizes [1, 4] : tensor<8x4xf32>, tensor<5x1xi32> -> tensor<5x4xf64>
  return
}
