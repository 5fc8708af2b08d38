// RUN: coll-opt %s --verify-diagnostics --split-input-file

// gemm_c1
func.func @gemm_c1(%a: tensor<4x6xf32>, %b: tensor<6x5xf64>, %c: tensor<4x5xf32>) {
  // expected-error@+1 {{elements must all be f32, f64, bf16 or f16, or sums of bf16 or f16 be f32, but are 'f32', 'f64', 'f32'}}
  %r = coll.gemm %a, %b into %c mnk [4, 5, 6] lds [6, 5, 5] : tensor<4x6xf32>, tensor<6x5xf64>, tensor<4x5xf32>
  return
}

// -----

func.func @gemm_c1_integers(%a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<4xi32>) {
  // expected-error@+1 {{elements must all be f32, f64, bf16 or f16, or sums of bf16 or f16 be f32, but are 'i32', 'i32', 'i32'}}
  %r = coll.gemm %a, %b into %c mnk [2, 2, 2] lds [2, 2, 2] : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  return
}

// -----

func.func @gemm_c1_rounded(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xbf16>) {
  // expected-error@+1 {{sums of bf16 or f16 be f32, but are 'f32', 'f32', 'bf16'}}
  %r = coll.gemm %a, %b into %c mnk [2, 2, 2] lds [2, 2, 2] : tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>
  return
}

// -----

// gemm_c2
func.func @gemm_c2(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error@+1 {{mnk and lds must have three entries, but have 2 and 3}}
  %r = coll.gemm %a, %b into %c mnk [4, 5] lds [6, 5, 5] : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @gemm_c2_negative(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error@+1 {{mnk must not be negative, but has -6}}
  %r = coll.gemm %a, %b into %c mnk [4, 5, -6] lds [6, 5, 5] : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
  return
}

// -----

// gemm_c3
func.func @gemm_c3(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error@+1 {{batch strides have 0 entries, but batch_sizes has 1}}
  %r = coll.gemm %a, %b into %c mnk [4, 5, 6] lds [6, 5, 5] batch_sizes [1] : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @gemm_c3_negative(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error@+1 {{batch list must not be negative, but has -1}}
  %r = coll.gemm %a, %b into %c mnk [4, 5, 6] lds [6, 5, 5] batch_sizes [-1] batch_strides_a [0] batch_strides_b [0] batch_strides_c [0] : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
  return
}

// -----

// gemm_c4
func.func @gemm_c4(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error@+1 {{matrix A (5 x 6, row stride 6) reaches outside 'tensor<4x6xf32>'}}
  %r = coll.gemm %a, %b into %c mnk [5, 5, 6] lds [6, 5, 5] : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @gemm_c4_transposed(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error@+1 {{matrix B (5 x 6, row stride 7) reaches outside 'tensor<6x5xf32>'}}
  %r = coll.gemm %a, %b into %c trans_b mnk [4, 5, 6] lds [6, 7, 5] : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @gemm_c4_batch(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error@+1 {{matrix C (4 x 5, row stride 5) reaches outside 'tensor<4x5xf32>'}}
  %r = coll.gemm %a, %b into %c mnk [4, 5, 6] lds [6, 5, 5] batch_sizes [2] batch_strides_a [0] batch_strides_b [0] batch_strides_c [1] : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @gemm_c4_overflow(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) {
  // expected-error@+1 {{matrix A (4 x 6, row stride 9223372036854775807) reaches outside 'tensor<4x6xf32>'}}
  %r = coll.gemm %a, %b into %c mnk [4, 5, 6] lds [9223372036854775807, 5, 5] : tensor<4x6xf32>, tensor<6x5xf32>, tensor<4x5xf32>
  return
}

// -----

// gemm_c5
func.func @gemm_c5(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{precision must be highest or high, but is "tf32"}}
  %r = coll.gemm %a, %b into %c precision "tf32" mnk [2, 2, 2] lds [2, 2, 2] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}
