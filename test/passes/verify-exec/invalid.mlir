// RUN: coll-opt %s --coll-verify-exec --verify-diagnostics --split-input-file

// Two contents that are alive at the same time overlap.
exec.function @overlap(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 64 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  // expected-note@+1 {{this is the view that is read}}
  %a = exec.view %arena[0 for 16]
  // expected-note@+1 {{this is the view that was written}}
  %b = exec.view %arena[8 for 16]
  exec.copy %x to %a
  exec.copy %x to %b
  // expected-error@+1 {{reads 16 bytes at 0, over which another content was written, of 16 bytes at 8}}
  exec.copy %a to %r
  exec.return
}

// -----

exec.function @never_written() -> tensor<4xf32> updates [-1] arena 64 {
^bb0(%r: !exec.buffer, %arena: !exec.buffer):
  // expected-note@+1 {{this is the view}}
  %a = exec.view %arena[0 for 16]
  // expected-error@+1 {{reads a content that has not been written}}
  exec.copy %a to %r
  exec.return
}

// -----

// One of two branches writes it.
exec.function @branch(tensor<i1>) -> tensor<4xf32> updates [-1] arena 64 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  // expected-note@+1 {{this is the view}}
  %a = exec.view %arena[0 for 16]
  %i = arith.constant 0 : index
  %c = exec.load %x[%i] : i1
  scf.if %c {
    exec.fill %a with 0.0 : f32
  }
  // expected-error@+1 {{reads a content that has not been written}}
  exec.copy %a to %r
  exec.return
}

// -----

// It is there in the first round, and gone in the second.
exec.function @second_round(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 64 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  // expected-note@+1 {{this is the view}}
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[0 for 16]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  exec.copy %x to %a
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error@+1 {{reads a content that has not been written}}
    exec.copy %a to %r
    exec.copy %x to %b
  }
  exec.return
}

// -----

// The old name is no name any more.
exec.function @renamed(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 64 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  // expected-note@+1 {{this is the view that is read}}
  %a = exec.view %arena[0 for 16]
  // expected-note@+1 {{this is the view that was written}}
  %b = exec.view %arena[0 for 16]
  exec.copy %x to %a
  exec.rename %a to %b
  // expected-error@+1 {{reads 16 bytes at 0, over which another content was written}}
  exec.copy %a to %r
  exec.return
}

// -----

// Scratch memory is anybody's.
func.func private @kernel_0(memref<4xf32>, memref<16xi8>)
exec.function @scratch(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 64 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  // expected-note@+1 {{this is the view}}
  %b = exec.view %arena[0 for 16]
  exec.copy %x to %b
  exec.call @kernel_0(write %r, scratch %a)
  // expected-error@+1 {{reads a content that has not been written}}
  exec.copy %b to %r
  exec.return
}

// -----

exec.function @in_flight(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 64 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  // expected-note@+1 {{it was started here}}
  %request = exec.start reads(%x) writes(%a) {
  ^bb0(%t: tensor<4xf32>):
    %s = coll.all_reduce sum %t over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // expected-error@+1 {{writes memory that a communication in flight writes}}
  exec.fill %a with 0.0 : f32
  exec.wait %request writes(%a)
  exec.copy %a to %r
  exec.return
}

// -----

exec.function @in_flight_source(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 64 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  exec.copy %x to %a
  // expected-note@+1 {{it was started here}}
  %request = exec.start reads(%a) writes(%r) {
  ^bb0(%t: tensor<4xf32>):
    %s = coll.all_reduce sum %t over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // expected-error@+1 {{writes memory that a communication in flight reads}}
  exec.fill %a with 0.0 : f32
  exec.wait %request writes(%r)
  exec.return
}

// -----

// The next round writes what the operation that the loop carries still reads.
exec.function @carried_source() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  exec.fill %a with 0.0 : f32
  %first = exec.start reads(%a) scalars(%one) {
  ^bb0(%t: tensor<4xf32>, %p: index):
    coll.send %t to %p over [[0, 1]] : tensor<4xf32>
    coll.yield
  }
  %last = scf.for %i = %zero to %one step %one iter_args(%f = %first) -> (!exec.request) {
    // expected-error@+1 {{writes memory that a communication in flight reads}}
    exec.fill %a with 1.0 : f32
    exec.wait %f
    // expected-note@+1 {{it was started here}}
    %next = exec.start reads(%a) scalars(%one) {
    ^bb0(%t: tensor<4xf32>, %p: index):
      coll.send %t to %p over [[0, 1]] : tensor<4xf32>
      coll.yield
    }
    scf.yield %next : !exec.request
  }
  exec.wait %last
  exec.return
}

// -----

// Behind the loop its result is in flight.
exec.function @carried_result() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-note@+1 {{it was started here}}
  %first = exec.start writes(%a) scalars(%one) {
  ^bb0(%p: index):
    %t = coll.recv from %p over [[0, 1]] : tensor<4xf32>
    coll.yield %t : tensor<4xf32>
  }
  %last = scf.for %i = %zero to %one step %one iter_args(%f = %first) -> (!exec.request) {
    scf.yield %f : !exec.request
  }
  // expected-error@+1 {{writes memory that a communication in flight writes}}
  exec.fill %a with 1.0 : f32
  exec.wait %last writes(%a)
  exec.return
}

// -----

exec.function @no_result(tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) updates [0, -1] arena 0 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{result 1 is not in its buffer}}
  exec.return
}
