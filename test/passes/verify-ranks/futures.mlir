// RUN: coll-opt %s --coll-verify-ranks --split-input-file --verify-diagnostics

// A loop carries the send of the round before; a billion rounds are not simulated.

coll.mesh @m ["pp" = 2]
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000000 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    %f = coll.start ins(%x, %c1 : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["pp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%sent = %f) -> (!coll.future) {
      coll.await %sent : !coll.future
      %next = coll.start ins(%x, %c1 : tensor<4xf32>, index) {
      ^bb0(%a: tensor<4xf32>, %p: index):
        coll.send %a to %p over @m["pp"] : tensor<4xf32>
        coll.yield
      } : !coll.future
      scf.yield %next : !coll.future
    }
    coll.await %last : !coll.future
  } else {
    %y = coll.recv from %c0 over @m["pp"] : tensor<4xf32>
    scf.for %i = %c0 to %n step %c1 {
      %z = coll.recv from %c0 over @m["pp"] : tensor<4xf32>
    }
  }
  return
}

// -----

// A ring: everybody sends first and waits a round later. Two are in flight, which change places.

coll.mesh @m ["dp" = 8]
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %n = arith.constant 8 : index
  %rank = coll.axis_index @m["dp"]
  %up = arith.addi %rank, %c1 : index
  %next = arith.remui %up, %n : index
  %down = arith.addi %rank, %c7 : index
  %previous = arith.remui %down, %n : index
  %f0 = coll.start ins(%x, %next : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  %f1 = coll.start ins(%x, %next : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%old = %f0, %young = %f1) -> (!coll.future, !coll.future) {
    %y = coll.recv from %previous over @m["dp"] : tensor<4xf32>
    coll.await %old : !coll.future
    %f = coll.start ins(%x, %next : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    scf.yield %young, %f : !coll.future, !coll.future
  }
  %y0 = coll.recv from %previous over @m["dp"] : tensor<4xf32>
  coll.await %last#0 : !coll.future
  %y1 = coll.recv from %previous over @m["dp"] : tensor<4xf32>
  coll.await %last#1 : !coll.future
  return
}

// -----

// The same ring with one in flight waits for its send before anybody receives.

coll.mesh @m ["dp" = 3]
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 3 : index
  %rank = coll.axis_index @m["dp"]
  %up = arith.addi %rank, %c1 : index
  %next = arith.remui %up, %n : index
  %down = arith.addi %rank, %c2 : index
  %previous = arith.remui %down, %n : index
  %f = coll.start ins(%x, %next : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%sent = %f) -> (!coll.future) {
    // expected-error@below {{cyclic wait in @step: ranks [0, 1, 2] wait for one another}}
    // expected-note@below {{rank 0 waits in coll.await of coll.send to rank 1}}
    // expected-note@below {{rank 1 waits in coll.await of coll.send to rank 2}}
    // expected-note@below {{rank 2 waits in coll.await of coll.send to rank 0}}
    coll.await %sent : !coll.future
    %y = coll.recv from %previous over @m["dp"] : tensor<4xf32>
    %g = coll.start ins(%x, %next : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    scf.yield %g : !coll.future
  }
  %y = coll.recv from %previous over @m["dp"] : tensor<4xf32>
  coll.await %last : !coll.future
  return
}

// -----

// The last one has no counterpart.

coll.program @sends ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 100 : index
    %f = coll.start ins(%x, %c1 : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over [[0, 1]] : tensor<4xf32>
      coll.yield
    } : !coll.future
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%sent = %f) -> (!coll.future) {
      coll.await %sent : !coll.future
      %g = coll.start ins(%x, %c1 : tensor<4xf32>, index) {
      ^bb0(%a: tensor<4xf32>, %p: index):
        coll.send %a to %p over [[0, 1]] : tensor<4xf32>
        coll.yield
      } : !coll.future
      scf.yield %g : !coll.future
    }
    // expected-error@below {{rank 0 waits in coll.await of coll.send to rank 1}}
    coll.await %last : !coll.future
    return
  }
}
coll.program @receives ranks [1] {
  // expected-note@+1 {{rank 1 runs this}}
  func.func @step(%x: tensor<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 100 : index
    scf.for %i = %c0 to %n step %c1 {
      %y = coll.recv from %c0 over [[0, 1]] : tensor<4xf32>
    }
    return
  }
}

// -----

// How often the loop runs depends on data that is equal everywhere: what it leaves in flight is
// what it found.

coll.mesh @m ["dp" = 4]
func.func @step(%x: tensor<4xf32>, %n: tensor<index> {coll.sharding = #coll.sharding<@m, []>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rounds = tensor.extract %n[] : tensor<index>
  %f = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  %last = scf.for %i = %c0 to %rounds step %c1 iter_args(%sum = %f) -> (!coll.future<tensor<4xf32>>) {
    %y = coll.await %sum : !coll.future<tensor<4xf32>>
    %g = coll.start ins(%y : tensor<4xf32>) {
    ^bb0(%a: tensor<4xf32>):
      %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
      coll.yield %s : tensor<4xf32>
    } : !coll.future<tensor<4xf32>>
    scf.yield %g : !coll.future<tensor<4xf32>>
  }
  %y = coll.await %last : !coll.future<tensor<4xf32>>
  return
}

// -----

// A loop that only hands it on.

coll.mesh @m ["dp" = 4]
func.func @step(%n: index) {
  %f = coll.start {
    coll.barrier over @m["dp"]
    coll.yield
  } : !coll.future
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %last = scf.for %i = %c0 to %c4 step %c4 iter_args(%g = %f) -> (!coll.future) {
    scf.yield %g : !coll.future
  }
  coll.await %last : !coll.future
  return
}
