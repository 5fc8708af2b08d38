// RUN: coll-opt %s --verify-diagnostics --split-input-file

// exec_function_c1
// expected-error@+1 {{arguments and results must be tensors of static shape, but one is 'tensor<?xf32>'}}
exec.function @step(tensor<?xf32>) -> () updates [] arena 0 {
^bb0(%x: !exec.buffer, %arena: !exec.buffer):
  exec.return
}

// -----

// exec_function_c2
// expected-error@+1 {{result 0 cannot update argument 0}}
exec.function @step(tensor<4xf32>) -> tensor<2xf32> updates [0] arena 0 {
^bb0(%x: !exec.buffer, %arena: !exec.buffer):
  exec.return
}

// -----

// expected-error@+1 {{updates must have one entry per result, but has 0 for 1}}
exec.function @step() -> tensor<2xf32> updates [] arena 0 {
^bb0(%arena: !exec.buffer):
  exec.return
}

// -----

// exec_function_c3
// expected-error@+1 {{block must have 2 buffers: arguments, results, the arena}}
exec.function @step(tensor<4xf32>) -> () updates [] arena 0 {
^bb0(%arena: !exec.buffer):
  exec.return
}

// -----

// expected-error@+1 {{arena cannot have -64 bytes}}
exec.function @step() -> () updates [] arena -64 {
^bb0(%arena: !exec.buffer):
  exec.return
}

// -----

// exec_function_c4
exec.function @step(tensor<4xf32>, tensor<4xf32>) -> () updates [] arena 0 {
^bb0(%x: !exec.buffer, %y: !exec.buffer, %arena: !exec.buffer):
  %true = arith.constant true
  // expected-error@+1 {{cannot pass a buffer on: only views and constants make buffers}}
  %either = arith.select %true, %x, %y : !exec.buffer
  exec.return
}

// -----

exec.function @step() -> () updates [] arena 0 {
^bb0(%arena: !exec.buffer):
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{control flow is scf.for, scf.while and scf.if}}
  scf.index_switch %c0
  default {
    scf.yield
  }
  exec.return
}

// -----

// exec_view_c1
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 64]
  // expected-error@+1 {{base must be a buffer of the function, not a view}}
  %b = exec.view %a[0 for 32]
  exec.return
}

// -----

// exec_view_c2
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  // expected-error@+1 {{takes 64 bytes at 32, outside of its base, which has 64}}
  %a = exec.view %arena[32 for 64]
  exec.return
}

// -----

exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  // expected-error@+1 {{takes 9223372036854775807 bytes at 8, outside of its base}}
  %a = exec.view %arena[8 for 9223372036854775807]
  exec.return
}

// -----

// exec_constant_c1
exec.function @step() -> () updates [] arena 0 {
^bb0(%arena: !exec.buffer):
  // expected-error@+1 {{must hold integers, indices or floats, but is 'tensor<1xcomplex<f32>>'}}
  %c = exec.constant dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>
  exec.return
}

// -----

// exec_undefined_c1
exec.function @step(tensor<4xf32>) -> () updates [] arena 0 {
// expected-note@+1 {{this is the memory}}
^bb0(%x: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{writes read-only memory: a constant, or an argument that no result updates}}
  exec.undefined %x
  exec.return
}

// -----

// exec_rename_c1
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[16 for 16]
  // expected-error@+1 {{source and target must be the same memory, but are 16 bytes at 0 and 16 bytes at 16}}
  exec.rename %a to %b
  exec.return
}

// -----

// exec_copy_c1
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[16 for 32]
  // expected-error@+1 {{copies 16 bytes to 32}}
  exec.copy %a to %b
  exec.return
}

// -----

// exec_copy_c2
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[8 for 16]
  // expected-error@+1 {{source and target overlap}}
  exec.copy %a to %b
  exec.return
}

// -----

// exec_copy_c3
exec.function @step(tensor<4xf32>) -> () updates [] arena 64 {
// expected-note@+1 {{this is the memory}}
^bb0(%x: !exec.buffer, %arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %x[0 for 16]
  // expected-error@+1 {{writes read-only memory}}
  exec.copy %a to %b
  exec.return
}

// -----

// exec_fill_c1
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 6]
  // expected-error@+1 {{cannot fill the view with elements of type 'f32'}}
  exec.fill %a with 0.0 : f32
  exec.return
}

// -----

// exec_fill_c2
exec.function @step() -> () updates [] arena 0 {
^bb0(%arena: !exec.buffer):
  // expected-note@+1 {{this is the memory}}
  %c = exec.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{writes read-only memory}}
  exec.fill %c with 0.0 : f32
  exec.return
}

// -----

// exec_load_c1
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %i = arith.constant 0 : index
  %a = exec.view %arena[0 for 4]
  // expected-error@+1 {{reads 'f64' from 4 bytes}}
  %s = exec.load %a[%i] : f64
  exec.return
}

// -----

// exec_store_c1
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %s = arith.constant 0 : i32
  %a = exec.view %arena[0 for 4]
  // expected-error@+1 {{stores 8 bytes to a view of 4}}
  exec.store %s, %s to %a : i32, i32
  exec.return
}

// -----

exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %s = arith.constant 0 : i32
  %l = arith.constant 0 : i64
  %a = exec.view %arena[0 for 8]
  // expected-error@+1 {{must store values of one type}}
  exec.store %s, %l to %a : i32, i64
  exec.return
}

// -----

// exec_store_c2
exec.function @step(tensor<i32>) -> () updates [] arena 64 {
// expected-note@+1 {{this is the memory}}
^bb0(%x: !exec.buffer, %arena: !exec.buffer):
  %s = arith.constant 0 : i32
  // expected-error@+1 {{writes read-only memory}}
  exec.store %s to %x : i32
  exec.return
}

// -----

// exec_call_c1
exec.function @step() -> () updates [] arena 0 {
^bb0(%arena: !exec.buffer):
  // expected-error@+1 {{calls 'kernel_0', which is not a kernel}}
  exec.call @kernel_0()
  exec.return
}

// -----

func.func private @kernel_0(memref<4xf32>)
exec.function @step() -> () updates [] arena 0 {
^bb0(%arena: !exec.buffer):
  // expected-error@+1 {{passes 0 operands to a kernel of 1}}
  exec.call @kernel_0()
  exec.return
}

// -----

// exec_call_c1
coll.mesh @m ["dp" = 2]
func.func private @kernel_0(memref<4xf32>, memref<4xf32>)
    attributes {exec.members = {group = #coll.group<@m["dp"]>, size = 2 : i64, sums = 0 : i64, copies = 0 : i64}}
exec.function @step(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{whose exec.members must name two of its buffers}}
  exec.call @kernel_0(read %x, write %r)
  exec.return
}

// -----

// exec_call_c1
coll.mesh @m ["dp" = 2]
func.func private @kernel_0(memref<4xf32>, memref<4xf32>)
    attributes {exec.members = {group = #coll.group<@m["dp"]>, size = 2 : i64, sums = 0 : i64, copies = 1 : i64}}
exec.function @step(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{passes 2 operands and the members' addresses to a kernel of 2}}
  exec.call @kernel_0(read %x, write %r)
  exec.return
}

// -----

// expected-error@+1 {{exec.members must be {group, size, sums, copies}, with a size from 1 to 64, but is {size = 2 : i64}}}
func.func private @kernel_0(memref<4xf32>) attributes {exec.members = {size = 2 : i64}}

// -----

// expected-note@+1 {{the mesh is here}}
coll.mesh @m ["dp" = 2]
exec.function @step() -> () updates [] arena 0 {
^bb0(%arena: !exec.buffer):
  // expected-error@+1 {{mesh @m has no axis "tp"}}
  %reached = exec.reaches over @m["tp"]
  exec.return
}

// -----

// exec_call_c2
func.func private @kernel_0(memref<4xf32>)
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  // expected-error@+1 {{operand 0 must have an access}}
  exec.call @kernel_0(%arena : !exec.buffer)
  exec.return
}

// -----

// exec_call_c3
func.func private @kernel_0(memref<4xf32>)
exec.function @step(tensor<4xf32>) -> () updates [] arena 0 {
// expected-note@+1 {{this is the memory}}
^bb0(%x: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{writes read-only memory}}
  exec.call @kernel_0(update %x)
  exec.return
}

// -----

// exec_call_c4
func.func private @kernel_0(memref<4xf32>, memref<4xf32>)
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[8 for 16]
  // expected-error@+1 {{operand 1 is written, and overlaps operand 0}}
  exec.call @kernel_0(read %a, write %b)
  exec.return
}

// -----

// exec_call_c5
func.func private @kernel_0(memref<4xf32>, memref<4xf32>)
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[16 for 16]
  // expected-error@+1 {{operand 0 is not the memory of a written operand}}
  exec.call @kernel_0(reuse %a, write %b)
  exec.return
}

// -----

// exec_gemm_c1
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[16 for 16]
  %c = exec.view %arena[32 for 16]
  // expected-error@+1 {{elements must be f32, f64, bf16 or f16, but are 'i32'}}
  exec.gemm %a, %b into %c of i32 mnk [2, 2, 2] lds [2, 2, 2]
  exec.return
}

// -----

exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[16 for 16]
  %c = exec.view %arena[32 for 16]
  // expected-error@+1 {{precision must be highest, tf32 or bf16, but is "f16"}}
  exec.gemm %a, %b into %c of f32 precision "f16" mnk [2, 2, 2] lds [2, 2, 2]
  exec.return
}

// -----

exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[16 for 16]
  %c = exec.view %arena[32 for 16]
  // expected-error@+1 {{factors of 'f32' cannot give 'bf16'}}
  exec.gemm %a, %b into %c of f32 to bf16 mnk [2, 2, 2] lds [2, 2, 2]
  exec.return
}

// -----

// exec_gemm_c2
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[16 for 16]
  %c = exec.view %arena[32 for 16]
  // expected-error@+1 {{sizes and strides must be complete, and none negative}}
  exec.gemm %a, %b into %c of f32 mnk [2, 2, 2] lds [2, 2]
  exec.return
}

// -----

// exec_gemm_c3
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[16 for 16]
  %c = exec.view %arena[32 for 16]
  // expected-error@+1 {{matrix B (3 x 2, row stride 2) reaches outside its view}}
  exec.gemm %a, %b into %c of f32 mnk [1, 2, 3] lds [3, 2, 2]
  exec.return
}

// -----

// exec_gemm_c4
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %c = exec.view %arena[8 for 16]
  // expected-error@+1 {{C overlaps a factor}}
  exec.gemm %a, %a into %c of f32 mnk [2, 2, 2] lds [2, 2, 2]
  exec.return
}
