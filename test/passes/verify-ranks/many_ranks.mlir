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
    }
    %y = coll.recv from %previous over @m["dp"] : tensor<4xf32>
    coll.wait %s ins(%x, %next : tensor<4xf32>, index)
  }
  return
}
