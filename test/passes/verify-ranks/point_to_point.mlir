// RUN: coll-opt %s --coll-verify-ranks --split-input-file

// A pipeline: three programs, several micro-batches.

coll.mesh @m ["pp" = 3]
coll.program @first ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1000000 : index
    scf.for %i = %c0 to %n step %c1 {
      coll.send %x to %c1 over @m["pp"] : tensor<4xf32>
    }
    return
  }
}
coll.program @middle ranks [1] {
  func.func @step() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = arith.constant 1000000 : index
    scf.for %i = %c0 to %n step %c1 {
      %y = coll.recv from %c0 over @m["pp"] : tensor<4xf32>
      coll.send %y to %c2 over @m["pp"] : tensor<4xf32>
    }
    return
  }
}
coll.program @last ranks [2] {
  func.func @step() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 500000 : index
    scf.for %i = %c0 to %n step %c1 {
      %y = coll.recv from %c1 over @m["pp"] : tensor<4xf32>
      %z = coll.recv from %c1 over @m["pp"] : tensor<4xf32>
    }
    return
  }
}

// -----

// A ring shift, asynchronous so that nobody has to go first; one program.

coll.mesh @m ["dp" = 8]
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %rank = coll.axis_index @m["dp"]
  %up = arith.addi %rank, %c1 : index
  %next = arith.remui %up, %c8 : index
  %down = arith.addi %rank, %c7 : index
  %previous = arith.remui %down, %c8 : index
  %s = coll.start ins(%x, %next : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  %r = coll.start ins(%previous : index) {
  ^bb0(%p: index):
    %b = coll.recv from %p over @m["dp"] : tensor<4xf32>
    coll.yield %b : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  coll.await %s : !coll.future
  %y = coll.await %r : !coll.future<tensor<4xf32>>
  return %y : tensor<4xf32>
}

// -----

// Peers are positions in the group; even ranks go first. Messages with different
// tags may pass one another.

coll.mesh @m ["dp" = 2, "tp" = 2]
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = coll.axis_index @m["tp"]
  %first = arith.cmpi eq, %i, %c0 : index
  scf.if %first {
    %a = coll.start ins(%x, %c1 : tensor<4xf32>, index) {
    ^bb0(%v: tensor<4xf32>, %p: index):
      coll.send %v to %p tag 1 over @m["tp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    coll.send %x to %c1 tag 2 over @m["tp"] : tensor<4xf32>
    coll.await %a : !coll.future
  } else {
    %b = coll.recv from %c0 tag 2 over @m["tp"] : tensor<4xf32>
    %a = coll.recv from %c0 tag 1 over @m["tp"] : tensor<4xf32>
  }
  return
}

// -----

// Rank 0 sends to each in turn: the peer follows from the loop.

coll.mesh @m ["dp" = 4]
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    scf.for %i = %c1 to %c4 step %c1 {
      coll.send %x to %i over @m["dp"] : tensor<4xf32>
    }
  } else {
    %y = coll.recv from %c0 over @m["dp"] : tensor<4xf32>
  }
  return
}

// -----

// A peer from a table, and one that a loop carries.

coll.mesh @m ["dp" = 3]
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %table = arith.constant dense<[2, 0, 1]> : tensor<3xi32>
  %rank = coll.rank
  %entry = tensor.extract %table[%rank] : tensor<3xi32>
  %previous = arith.index_cast %entry : i32 to index
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    coll.send %x to %c1 over @m["dp"] : tensor<4xf32>
    %y = coll.recv from %previous over @m["dp"] : tensor<4xf32>
  } else {
    %y = coll.recv from %previous over @m["dp"] : tensor<4xf32>
    %up = arith.addi %rank, %c1 : index
    %next = arith.remui %up, %c3 : index
    coll.send %x to %next over @m["dp"] : tensor<4xf32>
  }
  scf.if %first {
    %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%peer = %c1) -> index {
      coll.send %x to %peer over @m["dp"] : tensor<4xf32>
      %other = arith.addi %peer, %c1 : index
      scf.yield %other : index
    }
  } else {
    %y = coll.recv from %c0 over @m["dp"] : tensor<4xf32>
  }
  return
}
