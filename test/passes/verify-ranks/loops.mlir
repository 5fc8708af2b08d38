// RUN: coll-opt %s --coll-verify-ranks --split-input-file

// A while loop that integers alone decide; the two programs share its length.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    %zero = arith.constant dense<0> : tensor<i32>
    %one = arith.constant dense<1> : tensor<i32>
    %limit = arith.constant dense<20000> : tensor<i32>
    %i, %y = scf.while (%n = %zero, %v = %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
      %less = arith.cmpi slt, %n, %limit : tensor<i32>
      %c = tensor.extract %less[] : tensor<i1>
      scf.condition(%c) %n, %v : tensor<i32>, tensor<4xf32>
    } do {
    ^bb0(%n: tensor<i32>, %v: tensor<4xf32>):
      %s = coll.all_reduce sum %v over [[0, 1]] : tensor<4xf32>
      %m = arith.addi %n, %one : tensor<i32>
      scf.yield %m, %s : tensor<i32>, tensor<4xf32>
    }
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 20000 : index
    scf.for %i = %c0 to %n step %c1 {
      %s = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
    }
    return
  }
}

// -----

// The condition depends on data that a collective over all ranks made equal.

coll.mesh @m ["dp" = 4]
func.func @step(%x: tensor<f32>) {
  %limit = arith.constant 1.0 : f32
  %r = scf.while (%v = %x) : (tensor<f32>) -> tensor<f32> {
    %s = coll.all_reduce max %v over @m["dp"] : tensor<f32>
    %norm = tensor.extract %s[] : tensor<f32>
    %c = arith.cmpf ogt, %norm, %limit : f32
    scf.condition(%c) %s : tensor<f32>
  } do {
  ^bb0(%v: tensor<f32>):
    coll.barrier over @m["dp"]
    %half = arith.mulf %v, %v : tensor<f32>
    scf.yield %half : tensor<f32>
  }
  return
}

// -----

// A replicated argument decides; both branches are checked.

coll.mesh @m ["dp" = 4]
func.func @step(%x: tensor<4xf32>, %n: tensor<i32> {coll.sharding = #coll.sharding<@m, []>}) {
  %c0 = arith.constant 0 : i32
  %i = tensor.extract %n[] : tensor<i32>
  %c = arith.cmpi eq, %i, %c0 : i32
  scf.if %c {
    %s = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  } else {
    coll.barrier over @m["dp"]
  }
  return
}

// -----

// Data decides, but the ranks communicate alike either way.

coll.mesh @m ["dp" = 4]
func.func @step(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %s = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    %y = arith.addf %x, %x : tensor<4xf32>
    %s = coll.all_reduce sum %y over @m["dp"] : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A million rounds in a billion rounds; the ranks of a pair take turns by the outer
// loop's parity, which is simulated, and 10^15 rounds are not.

func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %m = arith.constant 1000000000 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.if %first {
        coll.send %x to %c1 over [[0, 1]] : tensor<4xf32>
        %y = coll.recv from %c1 over [[0, 1]] : tensor<4xf32>
      } else {
        %y = coll.recv from %c0 over [[0, 1]] : tensor<4xf32>
        coll.send %x to %c0 over [[0, 1]] : tensor<4xf32>
      }
    }
    coll.barrier over [[0, 1]]
  }
  return
}

// -----

// Rounds that overlap: rank 1 is half a round behind.

func.func @step(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    coll.send %x to %c1 over [[0, 1]] : tensor<4xf32>
    scf.for %i = %c0 to %n step %c1 {
      %y = coll.recv from %c1 over [[0, 1]] : tensor<4xf32>
      coll.send %x to %c1 over [[0, 1]] : tensor<4xf32>
    }
  } else {
    scf.for %i = %c0 to %n step %c1 {
      %y = coll.recv from %c0 over [[0, 1]] : tensor<4xf32>
      coll.send %x to %c0 over [[0, 1]] : tensor<4xf32>
    }
    %y = coll.recv from %c0 over [[0, 1]] : tensor<4xf32>
  }
  return
}

// -----

// A ring whose peer changes from round to round.

coll.mesh @m ["dp" = 6]
func.func @step(%x: tensor<4xf32>) {
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %rank = coll.axis_index @m["dp"]
  scf.for %i = %c1 to %c6 step %c1 {
    %up = arith.addi %rank, %i : index
    %to = arith.remui %up, %c6 : index
    %down = arith.subi %rank, %i : index
    %wrapped = arith.addi %down, %c6 : index
    %from = arith.remui %wrapped, %c6 : index
    %s = coll.start ins(%x, %to : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    %y = coll.recv from %from over @m["dp"] : tensor<4xf32>
    coll.await %s : !coll.future
  }
  return
}

// -----

// Equal along "tp" from the start, and along "dp" by a collective; axes of one rank are none.

coll.mesh @m ["dp" = 2, "tp" = 2, "pp" = 1]
func.func @step(%x: tensor<f32> {coll.sharding = #coll.sharding<@m, [], partial sum ["dp", "pp"]>},
                %y: tensor<4xf32>) {
  %limit = arith.constant 1.0 : f32
  %s = coll.all_reduce sum %x over @m["dp"] : tensor<f32>
  %norm = tensor.extract %s[] : tensor<f32>
  %c = arith.cmpf ogt, %norm, %limit : f32
  scf.if %c {
    coll.barrier over @m["dp", "tp"]
  }
  // One axis after the other.
  %a = coll.all_reduce max %y over @m["dp"] : tensor<4xf32>
  %b = coll.all_reduce max %a over @m["tp"] : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %first = tensor.extract %b[%c0] : tensor<4xf32>
  %d = arith.cmpf ogt, %first, %limit : f32
  scf.if %d {
    coll.barrier over @m["dp", "tp"]
  }
  return
}
