// RUN: coll-opt %s --verify-diagnostics --split-input-file

// start_c1
func.func @start_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{region must hold a communication operation}}
  %q = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    // expected-note@+1 {{'arith.negf' is here}}
    %s = arith.negf %a : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  %r = coll.await %q : !coll.future<tensor<4xf32>>
  return
}

// -----

func.func @start_c1_empty() {
  // expected-error@+1 {{region must hold a communication operation and coll.yield}}
  %q = coll.start {
    coll.yield
  } : !coll.future
  coll.await %q : !coll.future
  return
}

// -----

// What is yielded is in another order.
func.func @start_c1_order(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{region must end with a coll.yield of the communication's results}}
  %q = coll.start ins(%x, %y : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    %t = coll.all_reduce sum %b over [[0, 1]] : tensor<4xf32>
    // expected-note@+1 {{the block ends here}}
    coll.yield %t, %s : tensor<4xf32>, tensor<4xf32>
  } : !coll.future<tensor<4xf32>, tensor<4xf32>>
  %r:2 = coll.await %q : !coll.future<tensor<4xf32>, tensor<4xf32>>
  return
}

// -----

// start_c5
func.func @start_c5(%x: tensor<4xf32>) {
  // expected-error@+1 {{region's operations are one call and must be alike but for their shapes}}
  %q = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    // expected-note@+1 {{this one differs from the first}}
    coll.barrier over [[0, 1]]
    coll.yield %s : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  %r = coll.await %q : !coll.future<tensor<4xf32>>
  return
}

// -----

func.func @start_c5_reduction(%x: tensor<4xf32>, %y: tensor<f32>) {
  // expected-error@+1 {{region's operations are one call and must be alike but for their shapes}}
  %q = coll.start ins(%x, %y : tensor<4xf32>, tensor<f32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<f32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    // expected-note@+1 {{this one differs from the first}}
    %t = coll.all_reduce max %b over [[0, 1]] : tensor<f32>
    coll.yield %s, %t : tensor<4xf32>, tensor<f32>
  } : !coll.future<tensor<4xf32>, tensor<f32>>
  %r:2 = coll.await %q : !coll.future<tensor<4xf32>, tensor<f32>>
  return
}

// -----

func.func @start_c5_element(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{region's operations are one call and must be alike but for their shapes}}
  %q = coll.start ins(%x, %y : tensor<4xf32>, tensor<4xf16>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf16>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    // expected-note@+1 {{this one differs from the first}}
    %t = coll.all_reduce sum %b over [[0, 1]] : tensor<4xf16>
    coll.yield %s, %t : tensor<4xf32>, tensor<4xf16>
  } : !coll.future<tensor<4xf32>, tensor<4xf16>>
  %r:2 = coll.await %q : !coll.future<tensor<4xf32>, tensor<4xf16>>
  return
}

// -----

func.func @start_c5_kind(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{region may hold several operations only if they are all_reduce, reduce or broadcast}}
  %q = coll.start ins(%x, %y : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    // expected-note@+1 {{'coll.all_gather' is here}}
    %s = coll.all_gather %a dim 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
    %t = coll.all_gather %b dim 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
    coll.yield %s, %t : tensor<8xf32>, tensor<8xf32>
  } : !coll.future<tensor<8xf32>, tensor<8xf32>>
  %r:2 = coll.await %q : !coll.future<tensor<8xf32>, tensor<8xf32>>
  return
}

// -----

func.func @start_c5_inputs(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{block's arguments must be the inputs of its operations, in order}}
  %q = coll.start ins(%x, %y : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = coll.all_reduce sum %b over [[0, 1]] : tensor<4xf32>
    %t = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  } : !coll.future<tensor<4xf32>, tensor<4xf32>>
  %r:2 = coll.await %q : !coll.future<tensor<4xf32>, tensor<4xf32>>
  return
}

// -----

func.func @start_c5_carried(%x: tensor<4xf32>, %n: index) {
  // expected-error@+1 {{of several operations must be awaited in its own block}}
  %q = coll.start ins(%x, %x : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    %t = coll.all_reduce sum %b over [[0, 1]] : tensor<4xf32>
    coll.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  } : !coll.future<tensor<4xf32>, tensor<4xf32>>
  // expected-note@+1 {{it is used here}}
  %last = scf.for %i = %n to %n step %n iter_args(%f = %q)
      -> (!coll.future<tensor<4xf32>, tensor<4xf32>>) {
    scf.yield %f : !coll.future<tensor<4xf32>, tensor<4xf32>>
  }
  %r:2 = coll.await %last : !coll.future<tensor<4xf32>, tensor<4xf32>>
  return
}

// -----

func.func @start_c1_yield(%x: tensor<4xf32>) {
  // expected-error@+1 {{region must end with a coll.yield of the communication's results}}
  %q = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    // expected-note@+1 {{the block ends here}}
    coll.yield %a : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  %r = coll.await %q : !coll.future<tensor<4xf32>>
  return
}

// -----

func.func @start_c1_init() {
  // expected-error@+1 {{region must hold a communication operation}}
  %q = coll.start {
    // expected-note@+1 {{'coll.init' is here}}
    coll.init over [[0, 1]]
    coll.yield
  } : !coll.future
  coll.await %q : !coll.future
  return
}

// -----

// start_c2
func.func @start_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{block arguments have types ('tensor<4xf32>', 'tensor<4xf32>'), but ins have ('tensor<4xf32>')}}
  %q = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  %r = coll.await %q : !coll.future<tensor<4xf32>>
  return
}

// -----

// start_c3
func.func @start_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{yields ('tensor<4xf32>'), but the future is of ()}}
  %q = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  } : !coll.future
  coll.await %q : !coll.future
  return
}

// -----

// What only blocks.
func.func @start_c1_dispatch(%x: tensor<4x4xf32>, %e: tensor<4x1xi32>, %w: tensor<4x1xf32>) {
  // expected-error@+1 {{region must hold a communication operation that can be started}}
  %q = coll.start ins(%x, %e, %w : tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>) {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x1xi32>, %c: tensor<4x1xf32>):
    // expected-note@+1 {{'coll.dispatch' is here}}
    %r:5 = coll.dispatch %a to %b weights %c local_experts 1 capacity 8 over [[0, 1]]
        : tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>
    coll.yield %r#0 : tensor<8x4xf32>
  } : !coll.future<tensor<8x4xf32>>
  return
}

// -----

// start_c4
func.func @start_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{future must be awaited exactly once}}
  %q = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  return
}

// -----

func.func @start_c4_twice() {
  // expected-error@+1 {{future must be awaited exactly once}}
  %q = coll.start {
    coll.barrier over [[0, 1]]
    coll.yield
  } : !coll.future
  // expected-note@+1 {{it is used here}}
  coll.await %q : !coll.future
  // expected-note@+1 {{it is used here}}
  coll.await %q : !coll.future
  return
}

// -----

func.func @start_c4_elsewhere(%c: i1) {
  // expected-error@+1 {{future must be awaited in its own block, or carried on by a loop there}}
  %q = coll.start {
    coll.barrier over [[0, 1]]
    coll.yield
  } : !coll.future
  scf.if %c {
    // expected-note@+1 {{it is used here}}
    coll.await %q : !coll.future
  }
  return
}

// -----

// The loop drops what it is given.
func.func @start_c4_dropped(%n: index) {
  %q = coll.start {
    coll.barrier over [[0, 1]]
    coll.yield
  } : !coll.future
  // expected-note@+1 {{the value that this loop carries is not awaited exactly once}}
  %last = scf.for %i = %n to %n step %n iter_args(%f = %q) -> (!coll.future) {
    // expected-error@+1 {{future must be awaited exactly once}}
    %next = coll.start {
      coll.barrier over [[0, 1]]
      coll.yield
    } : !coll.future
    scf.yield %next : !coll.future
  }
  coll.await %last : !coll.future
  return
}

// -----

// Nobody awaits the last one.
func.func @start_c4_last(%n: index) {
  %q = coll.start {
    coll.barrier over [[0, 1]]
    coll.yield
  } : !coll.future
  // expected-note@+1 {{the value that this loop carries is not awaited exactly once}}
  %last = scf.for %i = %n to %n step %n iter_args(%f = %q) -> (!coll.future) {
    coll.await %f : !coll.future
    // expected-error@+1 {{future must be awaited exactly once}}
    %next = coll.start {
      coll.barrier over [[0, 1]]
      coll.yield
    } : !coll.future
    scf.yield %next : !coll.future
  }
  return
}

// -----

// Awaited, and handed on as well.
func.func @start_c4_again(%n: index) {
  // expected-error@+1 {{future must be awaited exactly once}}
  %q = coll.start {
    coll.barrier over [[0, 1]]
    coll.yield
  } : !coll.future
  // expected-note@+1 {{the value that this loop carries is not awaited exactly once}}
  %last = scf.for %i = %n to %n step %n iter_args(%f = %q) -> (!coll.future) {
    // expected-note@+1 {{it is used here}}
    coll.await %f : !coll.future
    // expected-note@+1 {{it is used here}}
    scf.yield %f : !coll.future
  }
  coll.await %last : !coll.future
  return
}

// -----

// A branch cannot hold it.
func.func @start_c4_while(%c: i1) {
  // expected-error@+1 {{future can only be awaited, or carried by an scf.for}}
  %q = coll.start {
    coll.barrier over [[0, 1]]
    coll.yield
  } : !coll.future
  // expected-note@+1 {{it is used here}}
  %last = scf.while (%f = %q) : (!coll.future) -> !coll.future {
    scf.condition(%c) %f : !coll.future
  } do {
  ^bb0(%f: !coll.future):
    scf.yield %f : !coll.future
  }
  return
}

// -----

// What a loop carries cannot be followed where the loop itself is wrong.
func.func @malformed(%n: index) {
  %q = coll.start {
    coll.barrier over [[0, 1]]
    coll.yield
  } : !coll.future
  %last = "scf.for"(%n, %n, %n, %q) ({
  ^bb0(%i: index, %f: !coll.future):
    // expected-error@+1 {{future must come from coll.start, directly or through the loops that carry it}}
    coll.await %f : !coll.future
    "scf.yield"() : () -> ()
  }) : (index, index, index, !coll.future) -> !coll.future
  return
}

// -----

// What a round starts is handed on to the next, which drops it.
func.func @start_c4_yielded(%f: !coll.future, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-note@+1 {{the value that this loop carries is not awaited exactly once}}
  %last = scf.for %i = %zero to %n step %one iter_args(%sent = %f) -> (!coll.future) {
    // expected-error@+1 {{future must be awaited exactly once}}
    %next = coll.start {
      coll.barrier over [[0, 1]]
      coll.yield
    } : !coll.future
    scf.yield %next : !coll.future
  }
  return
}
