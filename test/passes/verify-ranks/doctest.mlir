// RUN: coll-opt %s --coll-verify-ranks --verify-diagnostics

// Both ranks send first. A send is complete only when the peer receives, so both
// wait for ever.

coll.mesh @m ["pp" = 2]

coll.program @class0 ranks [0] {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    %one = arith.constant 1 : index
    // expected-error@below {{cyclic wait in @step: ranks [0, 1] wait for one another}}
    // expected-note@below {{rank 0 waits in coll.send to rank 1}}
    coll.send %x to %one over @m["pp"] : tensor<4xf32>
    %y = coll.recv from %one over @m["pp"] : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

coll.program @class1 ranks [1] {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0 : index
    // expected-note@below {{rank 1 waits in coll.send to rank 0}}
    coll.send %x to %zero over @m["pp"] : tensor<4xf32>
    %y = coll.recv from %zero over @m["pp"] : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
