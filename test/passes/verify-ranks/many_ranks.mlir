// RUN: coll-opt %s --coll-split-ranks --coll-verify-ranks --split-input-file --verify-diagnostics

// 16,384 ranks in one program.

coll.mesh @m ["dp" = 2048, "tp" = 8]
func.func @step(%x: tensor<4xf32>) {
  %0 = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  %1 = coll.all_reduce sum %0 over @m["tp"] : tensor<4xf32>
  %2 = coll.all_reduce sum %1 over @m["dp", "tp"] : tensor<4xf32>
  return
}

// -----

// Rank 0 does something else in between, with its own group.

coll.mesh @m ["dp" = 2048, "tp" = 8]
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  %0 = coll.all_reduce sum %x over @m["tp"] : tensor<4xf32>
  scf.if %first {
    %1 = coll.all_reduce sum %0 over [[0]] : tensor<4xf32>
  }
  %2 = coll.all_reduce sum %0 over @m["dp", "tp"] : tensor<4xf32>
  return
}

// -----

// A mismatch names few ranks.

coll.mesh @m ["dp" = 16384]
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    // expected-note@below {{rank 0 is here}}
    %1 = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  } else {
    // expected-error@below {{rank 1 (and 16,382 more) executes coll.all_reduce max, tensor<4xf32> where rank 0 executes coll.all_reduce sum, tensor<4xf32> over [0, 1, 2, 3, 4, 5, 6, 7, … and 16,376 more]}}
    %2 = coll.all_reduce max %x over @m["dp"] : tensor<4xf32>
  }
  return
}

// -----

// A ring of 16,384, a thousand times.

coll.mesh @m ["dp" = 16384]
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16384 : index
  %k = arith.constant 1000 : index
  %rank = coll.rank
  %up = arith.addi %rank, %c1 : index
  %next = arith.remui %up, %n : index
  %down = arith.addi %rank, %n : index
  %below = arith.subi %down, %c1 : index
  %previous = arith.remui %below, %n : index
  scf.for %i = %c0 to %k step %c1 {
    %s = coll.start ins(%x, %next : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    %y = coll.recv from %previous over @m["dp"] : tensor<4xf32>
    coll.await %s : !coll.future
  }
  return
}

// -----

// 64 stages of 256 replicas, one program: classes go through sends and receives, and through
// a call that passes the peer on.

coll.mesh @m ["dp" = 256, "pp" = 64]
func.func private @forward(%x: tensor<4xf32>, %is_first: i1, %is_last: i1, %previous: index, %next: index) {
  scf.if %is_first {
  } else {
    %y = coll.recv from %previous over @m["pp"] : tensor<4xf32>
  }
  scf.if %is_last {
  } else {
    coll.send %x to %next over @m["pp"] : tensor<4xf32>
  }
  return
}
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %n = arith.constant 100000 : index
  %stage = coll.axis_index @m["pp"]
  %next = arith.addi %stage, %c1 : index
  %previous = arith.subi %stage, %c1 : index
  %is_first = arith.cmpi eq, %stage, %c0 : index
  %is_last = arith.cmpi eq, %stage, %c63 : index
  scf.for %i = %c0 to %n step %c1 {
    func.call @forward(%x, %is_first, %is_last, %previous, %next) : (tensor<4xf32>, i1, i1, index, index) -> ()
  }
  %z = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  return
}

// -----

// In each round another peer, in each of 4,096 replicas.

coll.mesh @m ["dp" = 4096, "ep" = 4]
func.func @step(%x: tensor<4xf32>) {
  %c1 = arith.constant 1 : index
  %n = arith.constant 4 : index
  %mine = coll.axis_index @m["ep"]
  %top = arith.addi %mine, %n : index
  scf.for %i = %c1 to %n step %c1 {
    %up = arith.addi %mine, %i : index
    %next = arith.remui %up, %n : index
    %down = arith.subi %top, %i : index
    %previous = arith.remui %down, %n : index
    %s = coll.start ins(%x, %next : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["ep"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    %y = coll.recv from %previous over @m["ep"] : tensor<4xf32>
    coll.await %s : !coll.future
  }
  return
}

// -----

// A class's error names one of its ranks and counts the others.

coll.mesh @m ["dp" = 1024, "pp" = 2]
// expected-note@below {{rank 1 runs this}}
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %stage = coll.axis_index @m["pp"]
  %is_first = arith.cmpi eq, %stage, %c0 : index
  scf.if %is_first {
    coll.send %x to %c1 over @m["pp"] : tensor<4xf32>
    // expected-error@below {{rank 0 waits in coll.send to rank 1, but rank 1 ends @step without a matching coll.recv}}
    // expected-note@below {{the same happens to 1,023 more ranks like rank 0}}
    coll.send %x to %c1 over @m["pp"] : tensor<4xf32>
  } else {
    %y = coll.recv from %c0 over @m["pp"] : tensor<4xf32>
  }
  return
}

// -----

// One replica of 1,024 has another table of peers: its ranks are told apart from the others.

coll.mesh @m ["dp" = 1024, "pp" = 4]
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %next_of = arith.constant dense<[1, 2, 3, 0]> : tensor<4xindex>
  %other_of = arith.constant dense<[2, 3, 1, 0]> : tensor<4xindex>
  %previous_of = arith.constant dense<[3, 0, 1, 2]> : tensor<4xindex>
  %stage = coll.axis_index @m["pp"]
  %replica = coll.axis_index @m["dp"]
  %odd = arith.cmpi eq, %replica, %c2 : index
  %usual = tensor.extract %next_of[%stage] : tensor<4xindex>
  %other = tensor.extract %other_of[%stage] : tensor<4xindex>
  %next = arith.select %odd, %other, %usual : index
  %previous = tensor.extract %previous_of[%stage] : tensor<4xindex>
  %s = coll.start ins(%x, %next : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["pp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  // expected-note@below {{rank 9 waits in coll.recv from rank 8}}
  // expected-note@below {{rank 10 waits in coll.recv from rank 9}}
  %y = coll.recv from %previous over @m["pp"] : tensor<4xf32>
  // expected-error@below {{cyclic wait in @step: ranks [8, 10, 9] wait for one another}}
  // expected-note@below {{rank 8 waits in coll.await of coll.send to rank 10}}
  coll.await %s : !coll.future
  return
}
