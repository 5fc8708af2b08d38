// RUN: coll-opt %s --coll-verify-ranks --split-input-file --verify-diagnostics

// Ranks run a loop differently often.

coll.mesh @m ["dp" = 2]
// expected-note@below {{rank 0 runs this}}
func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %rank = coll.rank
  %n = arith.addi %rank, %c9 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error@below {{rank 1 waits in coll.all_reduce over [0, 1] for rank 0, but rank 0 ends @step without taking part}}
    %s = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  }
  return
}

// -----

// A trip count that is data, and may differ.

coll.mesh @m ["dp" = 2]
func.func @step(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@below {{communicates, but its trip count depends on data that may differ between ranks}}
  scf.for %i = %c0 to %n step %c1 {
    %s = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  }
  return
}

// -----

// A while loop that each rank leaves by its own data.

coll.mesh @m ["dp" = 2]
func.func @step(%x: tensor<f32>) {
  %limit = arith.constant 1.0 : f32
  // expected-error@below {{communicates, but its trip count depends on data that may differ between ranks}}
  %r = scf.while (%v = %x) : (tensor<f32>) -> tensor<f32> {
    %norm = tensor.extract %v[] : tensor<f32>
    %c = arith.cmpf ogt, %norm, %limit : f32
    scf.condition(%c) %v : tensor<f32>
  } do {
  ^bb0(%v: tensor<f32>):
    %s = coll.all_reduce max %v over @m["dp"] : tensor<f32>
    scf.yield %s : tensor<f32>
  }
  return
}

// -----

// Equal only within half of the ranks.

coll.mesh @m ["dp" = 2, "tp" = 2]
func.func @step(%x: tensor<f32>) {
  %limit = arith.constant 1.0 : f32
  %s = coll.all_reduce max %x over @m["dp"] : tensor<f32>
  %norm = tensor.extract %s[] : tensor<f32>
  %c = arith.cmpf ogt, %norm, %limit : f32
  // expected-error@below {{communicates, but its condition depends on data that may differ between ranks}}
  scf.if %c {
    coll.barrier over @m["dp", "tp"]
  }
  return
}

// -----

// Data decides, and the branches differ.

coll.mesh @m ["dp" = 2]
func.func @step(%x: tensor<4xf32>, %c: i1) {
  // expected-error@below {{communicates, but its condition depends on data that may differ between ranks}}
  scf.if %c {
    coll.barrier over @m["dp"]
  }
  return
}

// -----

// The condition is equal on all ranks, but only the ranks of one program come by.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<f32>) {
    %limit = arith.constant 1.0 : f32
    %s = coll.all_reduce max %x over [[0, 1]] : tensor<f32>
    %norm = tensor.extract %s[] : tensor<f32>
    %c = arith.cmpf ogt, %norm, %limit : f32
    // expected-error@below {{communicates, but its condition depends on data, and ranks run several programs}}
    scf.if %c {
      coll.barrier over [[0, 1]]
    }
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<f32>) {
    %s = coll.all_reduce max %x over [[0, 1]] : tensor<f32>
    return
  }
}

// -----

// Ranks do not come to a loop of unknown length together.

coll.mesh @m ["dp" = 2]
func.func @step(%x: tensor<4xf32>, %n: tensor<i32> {coll.sharding = #coll.sharding<@m, []>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    // expected-note@below {{rank 0 waits in coll.send to rank 1}}
    coll.send %x to %c1 over @m["dp"] : tensor<4xf32>
  }
  %i = tensor.extract %n[] : tensor<i32>
  %k = arith.index_cast %i : i32 to index
  // expected-error@below {{how often this runs is not known, and rank 0 does not reach it together with rank 1}}
  scf.for %j = %c0 to %k step %c1 {
    coll.barrier over @m["dp"]
  }
  return
}

// -----

// Recursion, and control flow that cannot be followed.

func.func @step() {
  func.call @again() : () -> ()
  return
}
// expected-error@below {{communicates, but calls itself}}
func.func private @again() {
  coll.barrier over [[0, 1]]
  func.call @again() : () -> ()
  return
}

// -----

// expected-error@below {{communicates, but branches between blocks cannot be followed}}
func.func @step(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  coll.barrier over [[0, 1]]
  cf.br ^bb2
^bb2:
  return
}

// -----

func.func @step() {
  // expected-error@below {{communication inside 'scf.execute_region' cannot be followed}}
  scf.execute_region {
    coll.barrier over [[0, 1]]
    scf.yield
  }
  return
}

// -----

// Every round of the outer loop is another one, and there are too many to follow.

func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100000000 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  // expected-error@below {{communicates differently in each iteration, as far as was found: the proof was given up after 16,777,216 steps of all ranks, in iteration}}
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %i to %n step %c1 {
      scf.if %first {
        coll.send %x to %c1 over [[0, 1]] : tensor<4xf32>
      } else {
        %y = coll.recv from %c0 over [[0, 1]] : tensor<4xf32>
      }
      scf.yield
    }
    coll.barrier over [[0, 1]]
  }
  return
}

// -----

// What is scattered along an axis varies along it, whatever was equal before.

coll.mesh @m ["dp" = 2, "tp" = 2]
func.func @step(%x: tensor<4xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) {
  %limit = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %r = coll.reduce_scatter sum %x dim 0 over @m["tp"] : tensor<4xf32> -> tensor<2xf32>
  %s = coll.all_reduce sum %r over @m["dp"] : tensor<2xf32>
  %norm = tensor.extract %s[%c0] : tensor<2xf32>
  %c = arith.cmpf ogt, %norm, %limit : f32
  // expected-error@below {{communicates, but its condition depends on data that may differ between ranks}}
  scf.if %c {
    coll.barrier over @m["dp", "tp"]
  }
  return
}

// -----

// Of groups that are none of the mesh's axes nothing is known.

coll.mesh @m ["dp" = 2, "tp" = 2]
func.func @step(%x: tensor<f32> {coll.sharding = #coll.sharding<@m, [], partial sum ["dp"]>}) {
  %limit = arith.constant 1.0 : f32
  %s = coll.all_reduce sum %x over [[0, 3], [1, 2]] : tensor<f32>
  %norm = tensor.extract %s[] : tensor<f32>
  %c = arith.cmpf ogt, %norm, %limit : f32
  // expected-error@below {{communicates, but its condition depends on data that may differ between ranks}}
  scf.if %c {
    coll.barrier over @m["dp", "tp"]
  }
  return
}
