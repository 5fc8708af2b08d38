// RUN: coll-opt %s --verify-diagnostics --split-input-file

// exec_attention_c1
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  // expected-error@+1 {{elements must be f32, bf16 or f16, but are 'f64'}}
  exec.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %lse of f64 sizes [1, 2, 2, 8, 8, 8] scale 1.0
  exec.return
}

// -----

exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 32]
  // expected-error@+1 {{lse must have 4 bytes for each of 16 rows, but has 32}}
  exec.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %lse of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.0
  exec.return
}

// -----

// exec_attention_c2
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  // expected-error@+1 {{dim must be a multiple of 8 up to 128, but is 136}}
  exec.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %lse of f32 sizes [1, 2, 2, 8, 8, 136] scale 1.0
  exec.return
}

// -----

// exec_attention_c3
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  // expected-error@+1 {{the place of q must be four numbers that are multiples of 4 elements}}
  exec.attention %x at [0, 0, 64, 6], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %lse of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.0
  exec.return
}

// -----

// exec_attention_c4
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  // expected-error@+1 {{q reaches outside its memory}}
  exec.attention %x at [4, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %lse of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.0
  exec.return
}

// -----

// exec_attention_c5
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  // expected-error@+1 {{precision must be highest or tf32, but is "bf16"}}
  exec.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %lse of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.0 precision "bf16"
  exec.return
}

// -----

// exec_attention_c6
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  // expected-error@+1 {{operand 3 is written, but is read-only memory}}
  exec.attention %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8]
    to %x at [0, 0, 64, 8], %lse of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.0
  exec.return
}

// -----

// exec_attention_gradient_c1
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  %dk = exec.view %arena[512 for 512]
  %dv = exec.view %arena[1024 for 512]
  %s = exec.view %arena[1536 for 64]
  %d = exec.view %arena[2048 for 512]
  // expected-error@+1 {{elements must be f32, bf16 or f16, but are 'i32'}}
  exec.attention_gradient %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
    %d at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %dk at [0, 0, 64, 8], %dv at [0, 0, 64, 8] scratch %s
    of i32 sizes [1, 2, 2, 8, 8, 8] scale 1.0
  exec.return
}

// -----

// exec_attention_gradient_c2
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  %dk = exec.view %arena[512 for 512]
  %dv = exec.view %arena[1024 for 512]
  %s = exec.view %arena[1536 for 64]
  %d = exec.view %arena[2048 for 512]
  // expected-error@+1 {{dim must be a multiple of 8 up to 128, but is 4}}
  exec.attention_gradient %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
    %d at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %dk at [0, 0, 64, 8], %dv at [0, 0, 64, 8] scratch %s
    of f32 sizes [1, 2, 2, 8, 8, 4] scale 1.0
  exec.return
}

// -----

// exec_attention_gradient_c3
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  %dk = exec.view %arena[512 for 512]
  %dv = exec.view %arena[1024 for 512]
  %s = exec.view %arena[1536 for 64]
  %d = exec.view %arena[2048 for 512]
  // expected-error@+1 {{the place of q must be four numbers that are multiples of 4 elements}}
  exec.attention_gradient %x at [0, 0, 64], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
    %d at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %dk at [0, 0, 64, 8], %dv at [0, 0, 64, 8] scratch %s
    of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.0
  exec.return
}

// -----

// exec_attention_gradient_c4
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  %dk = exec.view %arena[512 for 512]
  %dv = exec.view %arena[1024 for 512]
  %s = exec.view %arena[1536 for 64]
  %d = exec.view %arena[2048 for 512]
  // expected-error@+1 {{q reaches outside its memory}}
  exec.attention_gradient %x at [0, 0, 64, 12], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
    %d at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %dk at [0, 0, 64, 8], %dv at [0, 0, 64, 8] scratch %s
    of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.0
  exec.return
}

// -----

// exec_attention_gradient_c5
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  %dk = exec.view %arena[512 for 512]
  %dv = exec.view %arena[1024 for 512]
  %s = exec.view %arena[1536 for 64]
  %d = exec.view %arena[2048 for 512]
  // expected-error@+1 {{precision must be highest or tf32, but is "low"}}
  exec.attention_gradient %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
    %d at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %dk at [0, 0, 64, 8], %dv at [0, 0, 64, 8] scratch %s
    of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.0 precision "low"
  exec.return
}

// -----

// exec_attention_gradient_c6
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  %dk = exec.view %arena[512 for 512]
  %dv = exec.view %arena[1024 for 512]
  %s = exec.view %arena[1536 for 64]
  %d = exec.view %arena[2048 for 512]
  // expected-error@+1 {{operand 6 is written, and overlaps operand 7}}
  exec.attention_gradient %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
    %d at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8]
    to %dk at [0, 0, 64, 8], %dk at [0, 0, 64, 8], %dv at [0, 0, 64, 8] scratch %s
    of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.0
  exec.return
}

// -----

// exec_attention_gradient_c7
exec.function @step(tensor<2x8x8xf32>) -> tensor<2x8x8xf32> updates [-1] arena 4096 {
^bb0(%x: !exec.buffer, %o: !exec.buffer, %arena: !exec.buffer):
  %lse = exec.view %arena[0 for 64]
  %dk = exec.view %arena[512 for 512]
  %dv = exec.view %arena[1024 for 512]
  %s = exec.view %arena[1536 for 32]
  %d = exec.view %arena[2048 for 512]
  // expected-error@+1 {{scratch must have 4 bytes for each of 16 rows, but has 32}}
  exec.attention_gradient %x at [0, 0, 64, 8], %x at [0, 0, 64, 8], %x at [0, 0, 64, 8],
    %d at [0, 0, 64, 8], %lse, %x at [0, 0, 64, 8]
    to %o at [0, 0, 64, 8], %dk at [0, 0, 64, 8], %dv at [0, 0, 64, 8] scratch %s
    of f32 sizes [1, 2, 2, 8, 8, 8] scale 1.0
  exec.return
}
