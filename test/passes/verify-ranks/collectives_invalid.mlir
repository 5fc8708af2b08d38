// RUN: coll-opt %s --coll-verify-ranks --split-input-file --verify-diagnostics

// Kinds differ.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-note@below {{rank 0 is here}}
    coll.barrier over [[0, 1]]
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-error@below {{rank 1 executes coll.all_reduce sum, tensor<4xf32> where rank 0 executes coll.barrier over [0, 1]}}
    %0 = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
    return
  }
}

// -----

// Reductions differ, on the second operation.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    %0 = coll.all_reduce max %x over [[0, 1]] : tensor<4xf32>
    // expected-error@below {{rank 0 executes coll.all_reduce sum, tensor<4xf32> where rank 1 executes coll.all_reduce max, tensor<4xf32> over [0, 1]}}
    %1 = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xf32>) {
    %0 = coll.all_reduce max %x over [[0, 1]] : tensor<4xf32>
    // expected-note@below {{rank 1 is here}}
    %1 = coll.all_reduce max %x over [[0, 1]] : tensor<4xf32>
    return
  }
}

// -----

// Types differ.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-note@below {{rank 0 is here}}
    %0 = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xf64>) {
    // expected-error@below {{rank 1 executes coll.all_reduce sum, tensor<4xf64> where rank 0 executes coll.all_reduce sum, tensor<4xf32>}}
    %0 = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf64>
    return
  }
}

// -----

// Orders differ.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-note@below {{rank 0 is here}}
    %0 = coll.all_reduce sum %x over [[0, 1]] order rank : tensor<4xf32>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-error@below {{where rank 0 executes coll.all_reduce sum order rank, tensor<4xf32>}}
    %0 = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
    return
  }
}

// -----

// Shifts differ.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-note@below {{rank 0 is here}}
    %0 = coll.permute %x shift 1 over [[0, 1]] : tensor<4xf32>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-error@below {{rank 1 executes coll.permute shift 1 wraps, tensor<4xf32> where rank 0 executes coll.permute shift 1, tensor<4xf32>}}
    %0 = coll.permute %x pairs [[1, 0], [0, 1]] over [[0, 1]] : tensor<4xf32>
    return
  }
}

// -----

// What is summed in differs.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xbf16>) {
    // expected-note@below {{rank 0 is here}}
    %0 = coll.all_reduce sum in f32 %x over [[0, 1]] : tensor<4xbf16>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xbf16>) {
    // expected-error@below {{where rank 0 executes coll.all_reduce sum in f32, tensor<4xbf16>}}
    %0 = coll.all_reduce sum %x over [[0, 1]] : tensor<4xbf16>
    return
  }
}

// -----

// Roots differ.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-note@below {{rank 0 is here}}
    %0 = coll.broadcast %x from 0 over [[0, 1]] : tensor<4xf32>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-error@below {{rank 1 executes coll.broadcast root 1, tensor<4xf32> where rank 0 executes coll.broadcast root 0, tensor<4xf32>}}
    %0 = coll.broadcast %x from 1 over [[0, 1]] : tensor<4xf32>
    return
  }
}

// -----

// Dimensions differ.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4x4xf32>) {
    // expected-note@below {{rank 0 is here}}
    %0 = coll.all_to_all %x split 0 concat 0 over [[0, 1]] : tensor<4x4xf32> -> tensor<4x4xf32>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4x4xf32>) {
    // expected-error@below {{rank 1 executes coll.all_to_all split_dim 1 concat_dim 1, tensor<4x4xf32> where rank 0 executes coll.all_to_all split_dim 0 concat_dim 0, tensor<4x4xf32>}}
    %0 = coll.all_to_all %x split 1 concat 1 over [[0, 1]] : tensor<4x4xf32> -> tensor<4x4xf32>
    return
  }
}

// -----

// Two groups in opposite order: each rank waits in the other's second operation.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-error@below {{cyclic wait in @step: ranks [0, 1] wait for one another}}
    // expected-note@below {{rank 0 waits in coll.all_reduce over [0, 1] for rank 1}}
    %0 = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
    coll.barrier over [[1, 0]]
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-note@below {{rank 1 waits in coll.barrier over [1, 0] for rank 0}}
    coll.barrier over [[1, 0]]
    %0 = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
    return
  }
}

// -----

// A member that never takes part.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) {
    // expected-error@below {{rank 0 waits in coll.all_reduce over [0, 1] for rank 1, but rank 1 ends @step without taking part}}
    %0 = coll.all_reduce sum %x over [[0, 1]] : tensor<4xf32>
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

// A program without @init.

coll.program @class0 ranks [0] {
  func.func @init() {
    // expected-error@below {{rank 0 waits in coll.init over [0, 1] for rank 1, but rank 1 ends @init without taking part}}
    coll.init over [[0, 1]]
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step() {
    return
  }
}

// -----

// Not a member.

coll.mesh @m ["dp" = 4]
func.func @step() {
  // expected-error@below {{is executed by rank 2, which is not a member of the group}}
  coll.barrier over [[0, 1]]
  return
}

// -----

// Experts of a token exchange differ.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<6x4xf32>, %e: tensor<6x2xi32>, %w: tensor<6x2xf32>) {
    // expected-note@below {{rank 0 is here}}
    %d:5 = coll.dispatch %x to %e weights %w local_experts 2 capacity 9 over [[0, 1]] : tensor<6x4xf32>, tensor<6x2xi32>, tensor<6x2xf32>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<6x4xf32>, %e: tensor<6x2xi32>, %w: tensor<6x2xf32>) {
    // expected-error@below {{rank 1 executes coll.dispatch rows of 4 x f32 topk 2 local_experts 3 where rank 0 executes coll.dispatch rows of 4 x f32 topk 2 local_experts 2 over [0, 1]}}
    %d:5 = coll.dispatch %x to %e weights %w local_experts 3 capacity 9 over [[0, 1]] : tensor<6x4xf32>, tensor<6x2xi32>, tensor<6x2xf32>
    return
  }
}

// -----

// So do the rows that come back.

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<6x4xf32>, %e: tensor<6x2xi32>, %w: tensor<6x2xf32>, %y: tensor<9x4xf32>) {
    %d:5 = coll.dispatch %x to %e weights %w local_experts 2 capacity 9 over [[0, 1]] : tensor<6x4xf32>, tensor<6x2xi32>, tensor<6x2xf32>
    // expected-error@below {{rank 0 executes coll.combine rows of 4 x f32 where rank 1 executes coll.combine rows of 4 x bf16 over [0, 1]}}
    %c = coll.combine %y along %d#4 : tensor<9x4xf32>, !coll.route<6 topk 2 to 9 over [[0, 1]]>
    return
  }
}
coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<6x4xf32>, %e: tensor<6x2xi32>, %w: tensor<6x2xf32>, %y: tensor<9x4xbf16>) {
    %d:5 = coll.dispatch %x to %e weights %w local_experts 2 capacity 9 over [[0, 1]] : tensor<6x4xf32>, tensor<6x2xi32>, tensor<6x2xf32>
    // expected-note@below {{rank 1 is here}}
    %c = coll.combine %y along %d#4 : tensor<9x4xbf16>, !coll.route<6 topk 2 to 9 over [[0, 1]]>
    return
  }
}

// -----

// One rank goes on without the way back.

coll.mesh @m ["ep" = 2]

// expected-note@below {{rank 1 runs this}}
func.func @step(%x: tensor<6x4xf32>, %e: tensor<6x2xi32>, %w: tensor<6x2xf32>) {
  %zero = arith.constant 0 : index
  %rows, %row_experts, %row_weights, %counts, %route =
      coll.dispatch %x to %e weights %w local_experts 2 capacity 12 over @m["ep"]
      : tensor<6x4xf32>, tensor<6x2xi32>, tensor<6x2xf32>
  %rank = coll.rank
  %is_first = arith.cmpi eq, %rank, %zero : index
  scf.if %is_first {
    // expected-error@below {{rank 0 waits in coll.combine over [0, 1] for rank 1, but rank 1 ends @step without taking part}}
    %y = coll.combine %rows along %route : tensor<12x4xf32>, !coll.route<6 topk 2 to 12 over @m["ep"]>
  }
  return
}

// -----

// A route's type names ranks, too: there are seven.

func.func @step(%y: tensor<8x4xf32>, %route: !coll.route<4 topk 2 to 8 over [[0, 6], [2, 3]]>) {
  // expected-error@below {{is executed by rank 1, which is not a member of the group}}
  %c = coll.combine %y along %route : tensor<8x4xf32>, !coll.route<4 topk 2 to 8 over [[0, 6], [2, 3]]>
  return
}
