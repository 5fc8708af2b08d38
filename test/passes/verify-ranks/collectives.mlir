// RUN: coll-opt %s --coll-verify-ranks --split-input-file

// Every kind, one program.

coll.mesh @m ["dp" = 2, "tp" = 2]
coll.program @class0 ranks [0 to 3] {
  func.func @init(%x: tensor<4xf32>) -> tensor<4xf32> {
    coll.init over @m["dp"]
    %r = coll.broadcast %x from 1 over @m["dp"] : tensor<4xf32>
    return %r : tensor<4xf32>
  }
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
    %1 = coll.reduce max %0 to 1 over @m["tp"] order rank : tensor<4xf32>
    %2 = coll.all_gather %1 dim 0 over @m["dp", "tp"] : tensor<4xf32> -> tensor<16xf32>
    %3 = coll.reduce_scatter sum %2 dim 0 over @m["tp", "dp"] : tensor<16xf32> -> tensor<4xf32>
    %4 = coll.gather %3 dim 0 to 0 over @m["tp"] : tensor<4xf32> -> tensor<8xf32>
    %5 = coll.scatter %4 dim 0 from 0 over @m["tp"] : tensor<8xf32> -> tensor<4xf32>
    %6 = coll.all_to_all %5 split 0 concat 0 over @m["dp"] : tensor<4xf32> -> tensor<4xf32>
    %7 = coll.permute %6 pairs [[0, 1], [1, 0]] over [[0, 3], [1, 2]] : tensor<4xf32>
    coll.barrier over @m["dp", "tp"]
    return %7 : tensor<4xf32>
  }
}

// -----

// A shift agrees with the pairs that it stands for.

coll.mesh @m ["dp" = 4]
coll.program @class0 ranks [0, 2] {
  func.func @step(%x: tensor<4xf32>) {
    %0 = coll.permute %x shift -3 wraps over @m["dp"] : tensor<4xf32>
    %1 = coll.permute %x shift -3 over @m["dp"] : tensor<4xf32>
    return
  }
}
coll.program @class1 ranks [1, 3] {
  func.func @step(%x: tensor<4xf32>) {
    %0 = coll.permute %x pairs [[3, 0], [0, 1], [1, 2], [2, 3]] over @m["dp"] : tensor<4xf32>
    %1 = coll.permute %x pairs [[3, 0]] over @m["dp"] : tensor<4xf32>
    return
  }
}

// -----

// Two programs that agree where they meet. A group may be named by axes or by lists.

coll.mesh @m ["dp" = 4]
coll.program @class0 ranks [0, 2] {
  func.func @step(%x: tensor<4xf32>) {
    %0 = coll.all_reduce sum %x over [[0, 2]] : tensor<4xf32>
    %1 = coll.all_reduce sum %0 over @m["dp"] : tensor<4xf32>
    return
  }
}
coll.program @class1 ranks [1, 3] {
  func.func @step(%x: tensor<4xf32>) {
    %0 = coll.all_reduce sum %x over [[0, 1, 2, 3]] : tensor<4xf32>
    return
  }
}

// -----

// Plain functions: one program of all ranks, each function on its own.

func.func @a(%x: tensor<4xf32>) {
  %0 = coll.all_reduce sum %x over [[0, 1], [2, 3]] : tensor<4xf32>
  return
}
func.func @b(%x: tensor<4xf32>) {
  func.call @helper(%x) : (tensor<4xf32>) -> ()
  return
}
func.func private @helper(%x: tensor<4xf32>) {
  %0 = coll.all_reduce sum %x over [[0, 2], [1, 3]] : tensor<4xf32>
  return
}

// -----

// Collectives on different streams are ordered separately.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    %a = coll.start stream 1 ins(%x : tensor<4xf32>) {
    ^bb0(%i: tensor<4xf32>):
      %r = coll.all_reduce sum %i over [[0, 1]] : tensor<4xf32>
      coll.yield %r : tensor<4xf32>
    } : !coll.future<tensor<4xf32>>
    %b = coll.start stream 2 ins(%x : tensor<4xf32>) {
    ^bb0(%i: tensor<4xf32>):
      %r = coll.all_reduce max %i over [[0, 1]] : tensor<4xf32>
      coll.yield %r : tensor<4xf32>
    } : !coll.future<tensor<4xf32>>
    %0 = coll.await %a : !coll.future<tensor<4xf32>>
    %1 = coll.await %b : !coll.future<tensor<4xf32>>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xf32>) {
    %b = coll.start stream 2 ins(%x : tensor<4xf32>) {
    ^bb0(%i: tensor<4xf32>):
      %r = coll.all_reduce max %i over [[0, 1]] : tensor<4xf32>
      coll.yield %r : tensor<4xf32>
    } : !coll.future<tensor<4xf32>>
    %a = coll.start stream 1 ins(%x : tensor<4xf32>) {
    ^bb0(%i: tensor<4xf32>):
      %r = coll.all_reduce sum %i over [[0, 1]] : tensor<4xf32>
      coll.yield %r : tensor<4xf32>
    } : !coll.future<tensor<4xf32>>
    %0 = coll.await %a : !coll.future<tensor<4xf32>>
    %1 = coll.await %b : !coll.future<tensor<4xf32>>
    return
  }
}

// -----

// In an exchange of tokens, tokens and capacity are each rank's own.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<6x4xf32>, %e: tensor<6x2xi32>, %w: tensor<6x2xf32>) {
    %d:5 = coll.dispatch %x to %e weights %w local_experts 2 capacity 9 over [[0, 1]] : tensor<6x4xf32>, tensor<6x2xi32>, tensor<6x2xf32>
    %c = coll.combine %d#0 along %d#4 : tensor<9x4xf32>, !coll.route<6 topk 2 to 9 over [[0, 1]]>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<0x4xf32>, %e: tensor<0x2xi64>, %w: tensor<0x2xf32>) {
    %d:5 = coll.dispatch %x to %e weights %w local_experts 2 capacity 6 over [[0, 1]] : tensor<0x4xf32>, tensor<0x2xi64>, tensor<0x2xf32>
    %c = coll.combine %d#0 along %d#4 : tensor<6x4xf32>, !coll.route<0 topk 2 to 6 over [[0, 1]]>
    return
  }
}
