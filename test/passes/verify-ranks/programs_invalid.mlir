// RUN: coll-opt %s --coll-verify-ranks --split-input-file --verify-diagnostics

// A rank with two programs.

coll.program @class0 ranks [0, 1] {
  func.func @step() {
    return
  }
}
// expected-error@below {{rank 1 also runs @class0}}
coll.program @class1 ranks [1] {
  func.func @step() {
    return
  }
}

// -----

// A rank without a program.

// expected-error@below {{rank 1 has no program}}
module {
  coll.mesh @m ["dp" = 3]
  coll.program @class0 ranks [0, 2] {
    func.func @step() {
      return
    }
  }
}

// -----

coll.mesh @m ["dp" = 2]
// expected-error@below {{names rank 2, but there are 2 ranks}}
coll.program @class0 ranks [0 to 2] {
  func.func @step() {
    return
  }
}
