// RUN: coll-opt %s --coll-split-ranks --split-input-file --verify-diagnostics

// expected-error@below {{has no function @step}}
module {
  func.func private @helper() {
    return
  }
}

// -----

func.func @step() {
  return
}
// expected-error@below {{@other is not called; programs hold @init, @step and what they call}}
func.func @other() {
  return
}

// -----

// expected-error@below {{the module already has rank programs}}
coll.program @class0 ranks [0] {
  func.func @step() {
    return
  }
}

// -----

// expected-note@below {{first mesh}}
coll.mesh @a ["dp" = 4]
// expected-error@below {{mesh @b has 8 ranks, but mesh @a has 4}}
coll.mesh @b ["dp" = 8]
func.func @step() {
  return
}

// -----

coll.mesh @m ["dp" = 2]
func.func @step() {
  // expected-error@below {{names rank 2, but there are 2 ranks}}
  coll.barrier over [[0, 2]]
  return
}

// -----

coll.mesh @m ["dp" = 2]
func.func @step() {
  %c1 = arith.constant 1 : index
  %rank = coll.rank
  %q = arith.divui %c1, %rank : index
  %c = arith.cmpi eq, %q, %c1 : index
  // expected-error@below {{rank 0 cannot evaluate what decides here}}
  scf.if %c {
    coll.barrier over @m["dp"]
  }
  return
}
