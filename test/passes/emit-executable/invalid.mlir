// RUN: coll-opt %s --split-input-file --verify-diagnostics --coll-emit-executable

module {
  module @dtype attributes {exec.ranks = array<i64: 0, 1>} {
    exec.function @step(tensor<4xi3>) -> tensor<4xi3> updates [-1] arena 0 {
    ^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
      exec.communicate reads(%x) writes(%r) {
      ^bb0(%t: tensor<4xi3>):
        // expected-error@+1 {{cannot send elements of type 'i3'}}
        %s = coll.broadcast %t from 0 over [[0, 1]] : tensor<4xi3>
        coll.yield %s : tensor<4xi3>
      }
      exec.return
    }
  }
}

// -----

// expected-error@+1 {{has no rank class at the exec level: run coll-to-exec before}}
module {
}

// -----

module {
  // expected-error@+1 {{has no exec.function @step}}
  module @class0 attributes {exec.ranks = array<i64: 0>} {
  }
}

// -----

module {
  module @class0 attributes {exec.ranks = array<i64: 0>} {
    // expected-error@+1 {{must be @step or @init}}
    exec.function @other() -> () updates [] arena 0 {
    ^bb0(%arena: !exec.buffer):
      exec.return
    }
  }
}
