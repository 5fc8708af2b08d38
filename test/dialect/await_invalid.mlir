// RUN: coll-opt %s --verify-diagnostics --split-input-file

// await_c1
func.func @await_c1(%f: !coll.future) {
  // expected-error@+1 {{future must come from coll.start, directly or through the loops that carry it}}
  coll.await %f : !coll.future
  return
}

// -----

func.func @await_c1_loop(%f: !coll.future, %n: index) {
  %last = scf.for %i = %n to %n step %n iter_args(%g = %f) -> (!coll.future) {
    // expected-error@+1 {{future must come from coll.start, directly or through the loops that carry it}}
    coll.await %g : !coll.future
    %h = coll.start {
      coll.barrier over [[0, 1]]
      coll.yield
    } : !coll.future
    scf.yield %h : !coll.future
  }
  coll.await %last : !coll.future
  return
}

// -----

func.func @await_c1_branch(%c: i1) {
  %f = scf.if %c -> !coll.future {
    // expected-error@+1 {{future can only be awaited, or carried by an scf.for}}
    %g = coll.start {
      coll.barrier over [[0, 1]]
      coll.yield
    } : !coll.future
    // expected-note@+1 {{it is used here}}
    scf.yield %g : !coll.future
  } else {
    // expected-error@+1 {{future can only be awaited, or carried by an scf.for}}
    %g = coll.start {
      coll.barrier over [[0, 1]]
      coll.yield
    } : !coll.future
    // expected-note@+1 {{it is used here}}
    scf.yield %g : !coll.future
  }
  coll.await %f : !coll.future
  return
}

// -----

// await_c2
func.func @await_c2(%x: tensor<4xf32>) {
  %f = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  // expected-error@+2 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "coll.await"(%f) : (!coll.future<tensor<4xf32>>) -> tensor<5xf32>
  return
}
