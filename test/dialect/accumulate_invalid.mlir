// RUN: coll-opt %s --verify-diagnostics --split-input-file

// accumulate_c1
func.func @accumulate_c1(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x2xi32>) {
  // expected-error@+1 {{index_map has 1 entries, but the last dimension of the indices is 2}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x2xi32>
  return
}

// -----

func.func @accumulate_c1_elements(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xf16>) {
  // expected-error@+1 {{indices must have integer elements and rank >= 1, but are 'tensor<5x1xf16>'}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x1xf16>
  return
}

// -----

// accumulate_c2
func.func @accumulate_c2(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{region must take two 'f32', but takes ('f32')}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32):
    coll.yield %a : f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

func.func @accumulate_c2_type(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{region must take two 'f32', but takes ('f32', 'f64')}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f64):
    coll.yield %a : f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

func.func @accumulate_c2_yield(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{region must end with a coll.yield of one 'f32'}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %a, %b : f32, f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

func.func @accumulate_c2_effect(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{region must be free of side effects}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    // expected-note@+1 {{'coll.barrier' is here}}
    coll.barrier over [[0, 1]]
    coll.yield %a : f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

// accumulate_c3
func.func @accumulate_c3(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{inserted_dims has 5, which is not within rank 2}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [5] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

func.func @accumulate_c3_twice(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{inserted_dims has 0 twice}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0, 0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

// accumulate_c4
func.func @accumulate_c4(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{operand dimension 0 has length 8, but indices dimension 0 has length 5}}
  %r = coll.accumulate %u into %t[%i] inserted_dims [1] operand_batch_dims [0] indices_batch_dims [0] index_map [1] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

// accumulate_c5
func.func @accumulate_c5(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{window_dims has 2 entries for 1 window dimensions}}
  %r = coll.accumulate %u into %t[%i] window_dims [0, 1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

func.func @accumulate_c5_range(%u: tensor<5x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{window_dims has 9223372036854775807, which is not within rank 2}}
  %r = coll.accumulate %u into %t[%i] window_dims [9223372036854775807] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<5x4xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

func.func @accumulate_c5_length(%u: tensor<5x6xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{window dimension 1 of the updates has length 6, but operand dimension 1 only 4}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<5x6xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

// accumulate_c6
func.func @accumulate_c6(%u: tensor<6x4xf32>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{positions of updates 'tensor<6x4xf32>' differ from those of indices 'tensor<5x1xi32>'}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<6x4xf32>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}

// -----

func.func @accumulate_c6_element_type(%u: tensor<5x4xf64>, %t: tensor<8x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error@+1 {{updates are 'tensor<5x4xf64>', but the operand is 'tensor<8x4xf32>'}}
  %r = coll.accumulate %u into %t[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    coll.yield %b : f32
  } : tensor<5x4xf64>, tensor<8x4xf32>, tensor<5x1xi32>
  return
}
