// RUN: coll-opt %s --verify-diagnostics --split-input-file

// fused_gemm_c1
func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>) {
  // expected-error@+1 {{elements must all be f32, f64, bf16 or f16, or results of bf16 or f16 be f32}}
  %r = coll.fused_gemm "relu" %a, %b mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xf32>, tensor<6x5xf32> to tensor<4x5xf64>
  return
}

// -----

func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xbf16>) {
  // expected-error@+1 {{factors are of 'f32' and 'bf16'}}
  %r = coll.fused_gemm "relu" %a, %b mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xf32>, tensor<6x5xbf16> to tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x6xbf16>, %b: tensor<6x5xbf16>, %bias: tensor<5xf32>) {
  // expected-error@+1 {{operand of the epilogue must be of 'bf16', but is 'tensor<5xf32>'}}
  %r = coll.fused_gemm "bias" %a, %b with %bias mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xbf16>, tensor<6x5xbf16> with tensor<5xf32> to tensor<4x5xbf16>
  return
}

// -----

// fused_gemm_c2
func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>) {
  // expected-error@+1 {{mnk and lds must have three entries from 1 to 2^31}}
  %r = coll.fused_gemm "relu" %a, %b mnk [4, 5, 0] lds [6, 5, 5]
    : tensor<4x6xf32>, tensor<6x5xf32> to tensor<4x5xf32>
  return
}

// -----

// fused_gemm_c3
func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>) {
  // expected-error@+1 {{B needs 34 elements, but is 'tensor<6x5xf32>'}}
  %r = coll.fused_gemm "relu" %a, %b trans_b mnk [4, 5, 6] lds [6, 7, 5]
    : tensor<4x6xf32>, tensor<6x5xf32> to tensor<4x5xf32>
  return
}

// -----

// fused_gemm_c4
func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>) {
  // expected-error@+1 {{precision must be highest or high, but is "tf32"}}
  %r = coll.fused_gemm "relu" %a, %b precision "tf32" mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xf32>, tensor<6x5xf32> to tensor<4x5xf32>
  return
}

// -----

// fused_gemm_c5
func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>) {
  // expected-error@+1 {{there is no epilogue silu}}
  %r = coll.fused_gemm "silu" %a, %b mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xf32>, tensor<6x5xf32> to tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>) {
  // expected-error@+1 {{bias_relu reads something else}}
  %r = coll.fused_gemm "bias_relu" %a, %b mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xf32>, tensor<6x5xf32> to tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %bias: tensor<4xf32>) {
  // expected-error@+1 {{operand of the epilogue needs 5 elements, but is 'tensor<4xf32>'}}
  %r = coll.fused_gemm "bias" %a, %b with %bias mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xf32>, tensor<6x5xf32> with tensor<4xf32> to tensor<4x5xf32>
  return
}

// -----

// fused_gemm_c6
func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>) {
  // expected-error@+1 {{relu has one result}}
  %r, %x = coll.fused_gemm "relu" %a, %b mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xf32>, tensor<6x5xf32> to tensor<4x5xf32> keeps tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>) {
  // expected-error@+1 {{second result needs 20 elements, but is 'tensor<5xf32>'}}
  %r, %x = coll.fused_gemm "gelu" %a, %b mnk [4, 5, 6] lds [6, 5, 5]
    : tensor<4x6xf32>, tensor<6x5xf32> to tensor<4x5xf32> keeps tensor<5xf32>
  return
}
