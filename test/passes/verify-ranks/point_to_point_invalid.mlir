// RUN: coll-opt %s --coll-verify-ranks --split-input-file --verify-diagnostics

// Nobody receives.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error@below {{rank 0 waits in coll.send to rank 1 with tag 7, but rank 1 ends @step without a matching coll.recv}}
    coll.send %x to %c1 tag 7 over [[0, 1]] : tensor<4xf32>
    return
  }
}
coll.program @class1 ranks [1] {
  // expected-note@below {{rank 1 runs this}}
  func.func @step(%x: tensor<4xf32>) {
    return
  }
}

// -----

// Tags differ.

func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    // expected-error@below {{cyclic wait in @step: ranks [0, 1] wait for one another}}
    // expected-note@below {{rank 0 waits in coll.send to rank 1 with tag 1}}
    coll.send %x to %c1 tag 1 over [[0, 1]] : tensor<4xf32>
  } else {
    // expected-note@below {{rank 1 waits in coll.recv from rank 0 with tag 2}}
    %y = coll.recv from %c0 tag 2 over [[0, 1]] : tensor<4xf32>
  }
  return
}

// -----

// Types differ.

func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    // expected-note@below {{rank 0 sends here}}
    coll.send %x to %c1 over [[0, 1]] : tensor<4xf32>
  } else {
    // expected-error@below {{on rank 1 receives tensor<8xf32> from rank 0, which sends tensor<4xf32>}}
    %y = coll.recv from %c0 over [[0, 1]] : tensor<8xf32>
  }
  return
}

// -----

// Out of range.

coll.mesh @m ["dp" = 2, "tp" = 2]
func.func @step(%x: tensor<4xf32>) {
  %c2 = arith.constant 2 : index
  // expected-error@below {{has peer 2 on rank 0, but the group [0, 1] has 2 members}}
  coll.send %x to %c2 over @m["tp"] : tensor<4xf32>
  return
}

// -----

// To itself.

func.func @step(%x: tensor<4xf32>) {
  %rank = coll.rank
  // expected-error@below {{has rank 0 itself as peer}}
  coll.send %x to %rank over [[0, 1]] : tensor<4xf32>
  return
}

// -----

// A peer that is data.

func.func @step(%x: tensor<4xf32>, %peer: index) {
  // expected-error@below {{has a peer that does not follow from the rank, constants and counted loops alone}}
  coll.send %x to %peer over [[0, 1]] : tensor<4xf32>
  return
}

// -----

// A ring in which everybody sends first.

coll.mesh @m ["dp" = 16]
func.func @step(%x: tensor<4xf32>) {
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %rank = coll.rank
  %up = arith.addi %rank, %c1 : index
  %next = arith.andi %up, %c15 : index
  %down = arith.addi %rank, %c15 : index
  %previous = arith.andi %down, %c15 : index
  // expected-error@below {{cyclic wait in @step: ranks [0, 1, 2, 3, 4, 5, 6, 7, … and 8 more] wait for one another}}
  // expected-note@below {{rank 0 waits in coll.send to rank 1}}
  // expected-note@below {{rank 1 waits in coll.send to rank 2}}
  // expected-note@below {{rank 2 waits in coll.send to rank 3}}
  // expected-note@below {{rank 3 waits in coll.send to rank 4}}
  // expected-note@below {{rank 4 waits in coll.send to rank 5}}
  // expected-note@below {{rank 5 waits in coll.send to rank 6}}
  // expected-note@below {{rank 6 waits in coll.send to rank 7}}
  // expected-note@below {{rank 7 waits in coll.send to rank 8}}
  // expected-note@below {{… and 8 more ranks}}
  coll.send %x to %next over @m["dp"] : tensor<4xf32>
  %y = coll.recv from %previous over @m["dp"] : tensor<4xf32>
  return
}

// -----

// Across kinds: a receive and a collective wait for one another.

func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    // expected-error@below {{cyclic wait in @step: ranks [0, 1] wait for one another}}
    // expected-note@below {{rank 0 waits in coll.all_reduce over [0, 1] for rank 1}}
    %y = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
    coll.send %y to %c1 over [[0, 1]] : tensor<4xf32>
  } else {
    // expected-note@below {{rank 1 waits in coll.recv from rank 0}}
    %y = coll.recv from %c0 over [[0, 1]] : tensor<4xf32>
    %z = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
  }
  return
}

// -----

// One message too few, after a million that match.

// expected-note@below {{rank 0 runs this}}
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    scf.for %i = %c0 to %n step %c1 {
      coll.send %x to %c1 over [[0, 1]] : tensor<4xf32>
    }
  } else {
    scf.for %i = %c0 to %n step %c1 {
      %y = coll.recv from %c0 over [[0, 1]] : tensor<4xf32>
    }
    // expected-error@below {{rank 1 waits in coll.recv from rank 0, but rank 0 ends @step without a matching coll.send}}
    %z = coll.recv from %c0 over [[0, 1]] : tensor<4xf32>
  }
  return
}
