// RUN: coll-opt %s --verify-diagnostics --split-input-file

// attention_c1
func.func @attention_c1(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xbf16>) {
  // expected-error@+1 {{elements must all be f32, bf16 or f16, but are 'f32' and 'bf16'}}
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 8] scale 1.0
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xbf16> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  return
}

// -----

func.func @attention_c1_double(%x: tensor<2x8x8xf64>, %v: tensor<2x8x8xf64>) {
  // expected-error@+1 {{elements must all be f32, bf16 or f16, but are 'f64' and 'f64'}}
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 8] scale 1.0
     : tensor<2x8x8xf64>, tensor<2x8x8xf64>, tensor<2x8x8xf64> -> tensor<2x8x8xf64>, tensor<2x8xf32>
  return
}

// -----

func.func @attention_c1_rows(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{lse must be f32 with an element for each of 16 rows, but is 'tensor<2x4xf32>'}}
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 8] scale 1.0
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x4xf32>
  return
}

// -----

// attention_c2
func.func @attention_c2(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{sizes must be six numbers, none below 1}}
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8] scale 1.0
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  return
}

// -----

func.func @attention_c2_heads(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{heads must be a multiple of kv_heads, but are 2 and 3}}
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 3, 8, 8, 8] scale 1.0
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  return
}

// -----

func.func @attention_c2_dim(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{dim must be a multiple of 8 up to 128, but is 4}}
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 4] scale 1.0
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  return
}

// -----

func.func @attention_c2_causal(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{a causal mask needs keys >= queries, but there are 4 and 8}}
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 4, 8] scale 1.0 causal
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  return
}

// -----

// attention_c3
func.func @attention_c3(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{the place of q must be four numbers that are multiples of 4 elements}}
  %o, %lse = coll.attention %x at [0, 0, 64], %x at [0, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 8] scale 1.0
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  return
}

// -----

func.func @attention_c3_aligned(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{the place of k must be four numbers that are multiples of 4 elements}}
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [2, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 8] scale 1.0
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  return
}

// -----

// attention_c4
func.func @attention_c4(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{q reaches outside its memory}}
  %o, %lse = coll.attention %x at [0, 0, 64, 12], %x at [0, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 8] scale 1.0
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  return
}

// -----

func.func @attention_c4_far(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{k reaches outside its memory}}
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [0, 0, 4611686018427387904, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 8] scale 1.0
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  return
}

// -----

// attention_c5
func.func @attention_c5(%x: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>) {
  // expected-error@+1 {{precision must be highest or high, but is "low"}}
  %o, %lse = coll.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %v at [0, 0, 64, 8]
     to [0, 0, 64, 8] sizes [1, 2, 2, 8, 8, 8] scale 1.0 precision "low"
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8xf32>
  return
}

// -----

// attention_gradient_c1
func.func @attention_gradient_c1(%x: tensor<2x8x8xf32>, %lse: tensor<2x8xbf16>) {
  // expected-error@+1 {{lse must be f32 with an element for each of 16 rows, but is 'tensor<2x8xbf16>'}}
  %dq, %dk, %dv = coll.attention_gradient %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
     %x at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8] to [0, 0, 64, 8], [0, 0, 64, 8], [0, 0, 64, 8]
     sizes [1, 2, 2, 8, 8, 8] scale 1.0
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8xbf16>,
       tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
  return
}

// -----

// attention_gradient_c5
func.func @attention_gradient_c5(%x: tensor<2x8x8xf32>, %lse: tensor<2x8xf32>) {
  // expected-error@+1 {{precision must be highest or high, but is "tf32"}}
  %dq, %dk, %dv = coll.attention_gradient %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
     %x at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8] to [0, 0, 64, 8], [0, 0, 64, 8], [0, 0, 64, 8]
     sizes [1, 2, 2, 8, 8, 8] scale 1.0 precision "tf32"
     : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8xf32>,
       tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
  return
}
