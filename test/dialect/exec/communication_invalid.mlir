// RUN: coll-opt %s --verify-diagnostics --split-input-file

// exec_communicate_c1
exec.function @step(tensor<4xf32>) -> () updates [] arena 0 {
^bb0(%x: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{region must hold communication operations and coll.yield of their results}}
  exec.communicate reads(%x) {
  ^bb0(%t: tensor<4xf32>):
    coll.yield
  }
  exec.return
}

// -----

// exec_communicate_c2
exec.function @step(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{reads a 'tensor<2xf32>' from a view of another size}}
  exec.communicate reads(%x) writes(%r) {
  ^bb0(%t: tensor<2xf32>):
    %s = coll.all_gather %t dim 0 over [[0, 1]] : tensor<2xf32> -> tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  exec.return
}

// -----

// exec_communicate_c3
exec.function @step(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{writes a 'tensor<8xf32>' to a view of another size}}
  exec.communicate reads(%x) writes(%r) {
  ^bb0(%t: tensor<4xf32>):
    %s = coll.all_gather %t dim 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
    coll.yield %s : tensor<8xf32>
  }
  exec.return
}

// -----

// exec_communicate_c4
exec.function @step(tensor<4xf32>) -> () updates [] arena 0 {
// expected-note@+1 {{this is the memory}}
^bb0(%x: !exec.buffer, %arena: !exec.buffer):
  // expected-error@+1 {{writes read-only memory}}
  exec.communicate reads(%x) writes(%x) {
  ^bb0(%t: tensor<4xf32>):
    %s = coll.all_reduce sum %t over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  exec.return
}

// -----

// Only some operations work in place.
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  // expected-error@+1 {{reads and writes memory that overlaps}}
  exec.communicate reads(%a) writes(%a) {
  ^bb0(%t: tensor<4xf32>):
    %s = coll.permute %t pairs [[0, 1], [1, 0]] over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  exec.return
}

// -----

// exec_communicate_c5
exec.function @step() -> () updates [] arena 256 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[64 for 16]
  %c = exec.view %arena[128 for 16]
  %d = exec.view %arena[16 for 16]
  // expected-error@+1 {{of several operations must find each tensor at the next multiple of 64 bytes behind the one before}}
  exec.communicate reads(%a, %d) writes(%a, %d) {
  ^bb0(%t0: tensor<4xf32>, %t1: tensor<4xf32>):
    %s = coll.all_reduce sum %t0 over [[0, 1]] : tensor<4xf32>
    %t = coll.all_reduce sum %t1 over [[0, 1]] : tensor<4xf32>
    coll.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  }
  exec.return
}

// -----

// exec_communicate_c5
exec.function @step() -> () updates [] arena 256 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[64 for 16]
  %c = exec.view %arena[128 for 16]
  %d = exec.view %arena[16 for 16]
  // expected-error@+1 {{of several operations must find each tensor at the next multiple of 64 bytes behind the one before}}
  exec.communicate reads(%a, %c) writes(%a, %c) {
  ^bb0(%t0: tensor<4xf32>, %t1: tensor<4xf32>):
    %s = coll.all_reduce sum %t0 over [[0, 1]] : tensor<4xf32>
    %t = coll.all_reduce sum %t1 over [[0, 1]] : tensor<4xf32>
    coll.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  }
  exec.return
}

// -----

// exec_communicate_c5
exec.function @step() -> () updates [] arena 256 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[64 for 16]
  %c = exec.view %arena[128 for 16]
  %d = exec.view %arena[16 for 16]
  // expected-error@+1 {{of several operations must write what it reads}}
  exec.communicate reads(%a, %b) writes(%b, %c) {
  ^bb0(%t0: tensor<4xf32>, %t1: tensor<4xf32>):
    %s = coll.all_reduce sum %t0 over [[0, 1]] : tensor<4xf32>
    %t = coll.all_reduce sum %t1 over [[0, 1]] : tensor<4xf32>
    coll.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  }
  exec.return
}

// -----

// exec_communicate_c5
exec.function @step() -> () updates [] arena 256 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[64 for 16]
  %c = exec.view %arena[128 for 16]
  %d = exec.view %arena[16 for 16]
  // expected-error@+1 {{of several operations must write what it reads}}
  exec.communicate reads(%a, %b) writes(%c, %d) {
  ^bb0(%t0: tensor<4xf32>, %t1: tensor<4xf32>):
    %s = coll.all_reduce sum %t0 over [[0, 1]] : tensor<4xf32>
    %t = coll.all_reduce sum %t1 over [[0, 1]] : tensor<4xf32>
    coll.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  }
  exec.return
}

// -----

// exec_communicate_c5
exec.function @step() -> () updates [] arena 256 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[64 for 16]
  %c = exec.view %arena[128 for 16]
  %d = exec.view %arena[16 for 16]
  // expected-error@+1 {{region's operations are one call and must be alike}}
  exec.communicate reads(%a, %b) writes(%a, %b) {
  ^bb0(%t0: tensor<4xf32>, %t1: tensor<4xf32>):
    %s = coll.all_reduce sum %t0 over [[0, 1]] : tensor<4xf32>
    %t = coll.all_reduce max %t1 over [[0, 1]] : tensor<4xf32>
    coll.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  }
  exec.return
}

// -----

// exec_communicate_c5
exec.function @step() -> () updates [] arena 256 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[64 for 16]
  %c = exec.view %arena[128 for 16]
  %d = exec.view %arena[16 for 16]
  // expected-error@+1 {{block's arguments must be the inputs of its operations, in order}}
  exec.communicate reads(%a, %b) writes(%a, %b) {
  ^bb0(%t0: tensor<4xf32>, %t1: tensor<4xf32>):
    %s = coll.all_reduce sum %t1 over [[0, 1]] : tensor<4xf32>
    %t = coll.all_reduce sum %t0 over [[0, 1]] : tensor<4xf32>
    coll.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  }
  exec.return
}

// -----

// exec_start_c5
exec.function @step() -> () updates [] arena 256 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[128 for 16]
  // expected-error@+1 {{of several operations must find each tensor at the next multiple of 64 bytes}}
  %r = exec.start reads(%a, %b) writes(%a, %b) {
  ^bb0(%t0: tensor<4xf32>, %t1: tensor<4xf32>):
    %s = coll.all_reduce sum %t0 over [[0, 1]] : tensor<4xf32>
    %t = coll.all_reduce sum %t1 over [[0, 1]] : tensor<4xf32>
    coll.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  }
  exec.wait %r writes(%a, %b)
  exec.return
}

// -----

// exec_start_c1
exec.function @step() -> () updates [] arena 0 {
^bb0(%arena: !exec.buffer):
  // expected-error@+1 {{cannot start 'coll.init'}}
  %r = exec.start {
    coll.init over [[0, 1]]
    coll.yield
  }
  exec.wait %r
  exec.return
}

// -----

// exec_start_c4
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[8 for 16]
  // expected-error@+1 {{reads and writes memory that overlaps}}
  %r = exec.start reads(%a) writes(%b) {
  ^bb0(%t: tensor<4xf32>):
    %s = coll.all_reduce sum %t over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  exec.wait %r writes(%b)
  exec.return
}

// -----

// exec_start_c6
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  // expected-error@+1 {{request must be awaited exactly once}}
  %r = exec.start reads(%a) writes(%a) {
  ^bb0(%t: tensor<4xf32>):
    %s = coll.all_reduce sum %t over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  exec.return
}

// -----

// exec_wait_c1
func.func @other(%r: !exec.request) {
  // expected-error@+1 {{request must come from exec.start, directly or through the loops that carry it}}
  exec.wait %r
  return
}

// -----

// exec_wait_c2
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[16 for 16]
  // expected-note@+1 {{it was started here}}
  %r = exec.start reads(%a) writes(%a) {
  ^bb0(%t: tensor<4xf32>):
    %s = coll.all_reduce sum %t over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // expected-error@+1 {{and what it waits for must name the same memory}}
  exec.wait %r writes(%b)
  exec.return
}

// -----

// The rounds of the loop read another memory than what is started before it.
exec.function @step() -> () updates [] arena 64 {
^bb0(%arena: !exec.buffer):
  %a = exec.view %arena[0 for 16]
  %b = exec.view %arena[16 for 16]
  %one = arith.constant 1 : index
  %first = exec.start reads(%a) scalars(%one) {
  ^bb0(%t: tensor<4xf32>, %p: index):
    coll.send %t to %p over [[0, 1]] : tensor<4xf32>
    coll.yield
  }
  %last = scf.for %i = %one to %one step %one iter_args(%r = %first) -> (!exec.request) {
    // expected-error@+1 {{and what it waits for must name the same memory}}
    exec.wait %r
    // expected-note@+1 {{it was started here}}
    %next = exec.start reads(%b) scalars(%one) {
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

// expected-error@+1 {{exec.ranks must be an array of rising i64, but is array<i64: 1, 0>}}
module attributes {exec.ranks = array<i64: 1, 0>} {
}
