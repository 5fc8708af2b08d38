// RUN: coll-opt %s --verify-diagnostics --split-input-file

// exec_fused_gemm_c1
exec.function @step(tensor<4x6xi32>, tensor<6x5xi32>) -> tensor<4x5xi32> updates [-1] arena 0 {
^bb0(%a: !exec.buffer, %b: !exec.buffer, %c: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{elements must all be f32, f64, bf16 or f16}}
  exec.fused_gemm "relu" %a, %b into %c of i32 mnk [4, 5, 6] lds [6, 5, 5]
  exec.return
}

// -----

exec.function @step(tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32> updates [-1] arena 0 {
^bb0(%a: !exec.buffer, %b: !exec.buffer, %c: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{precision must be highest, tf32 or bf16, but is "high"}}
  exec.fused_gemm "relu" %a, %b into %c of f32 precision "high" mnk [4, 5, 6] lds [6, 5, 5]
  exec.return
}

// -----

// exec_fused_gemm_c6
exec.function @step(tensor<4x6xf32>, tensor<6x5xf32>) -> (tensor<4x5xf32>, tensor<5xf32>) updates [-1, -1] arena 0 {
^bb0(%a: !exec.buffer, %b: !exec.buffer, %c: !exec.buffer, %x: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{needs 20 elements of 'f32' in a view that has 20 bytes}}
  exec.fused_gemm "gelu" %a, %b into %c keeps %x of f32 mnk [4, 5, 6] lds [6, 5, 5]
  exec.return
}

// -----

// exec_fused_gemm_c7
exec.function @step(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> updates [-1] arena 0 {
^bb0(%a: !exec.buffer, %b: !exec.buffer, %c: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{writes read-only memory}}
  exec.fused_gemm "relu" %a, %c into %b of f32 mnk [4, 4, 4] lds [4, 4, 4]
  exec.return
}

// -----

exec.function @step(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> updates [-1] arena 0 {
^bb0(%a: !exec.buffer, %b: !exec.buffer, %c: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{a result overlaps an operand}}
  exec.fused_gemm "gelu_gradient" %a, %b with %c into %c of f32 mnk [4, 4, 4] lds [4, 4, 4]
  exec.return
}

// -----

exec.function @step(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> updates [-1] arena 0 {
^bb0(%a: !exec.buffer, %b: !exec.buffer, %c: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{the results overlap}}
  exec.fused_gemm "gelu" %a, %b into %c keeps %c of f32 mnk [4, 4, 4] lds [4, 4, 4]
  exec.return
}
