// RUN: coll-opt %s --verify-diagnostics --split-input-file

// start_c1
func.func @start_c1(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error@+1 {{region must hold a communication operation}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    // expected-note@+1 {{'arith.negf' is here}}
    %s = arith.negf %a : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}

// -----

func.func @start_c1_two(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error@+1 {{region must hold one communication operation and coll.yield, but holds 3 operations}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.barrier over [[0, 1]]
    coll.yield %s : tensor<4xf32>
  }
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}

// -----

func.func @start_c1_yield(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error@+1 {{region must end with a coll.yield of the communication's results}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    // expected-note@+1 {{the block ends here}}
    coll.yield %a : tensor<4xf32>
  }
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}

// -----

func.func @start_c1_init() {
  // expected-error@+1 {{region must hold a communication operation}}
  %q = coll.start {
    // expected-note@+1 {{'coll.init' is here}}
    coll.init over [[0, 1]]
    coll.yield
  }
  coll.wait %q
  return
}

// -----

// start_c2
func.func @start_c2(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error@+1 {{block arguments have types ('tensor<4xf32>', 'tensor<4xf32>'), but ins have ('tensor<4xf32>')}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}

// -----

// start_c3
func.func @start_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{yields ('tensor<4xf32>'), but outs have ()}}
  %q = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  coll.wait %q ins(%x : tensor<4xf32>)
  return
}

// -----

// What only blocks.
func.func @start_c1_dispatch(%x: tensor<4x4xf32>, %e: tensor<4x1xi32>, %w: tensor<4x1xf32>, %d: tensor<8x4xf32>) {
  // expected-error@+1 {{region must hold a communication operation that can be started}}
  %q = coll.start ins(%x, %e, %w : tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>) outs(%d : tensor<8x4xf32>) {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x1xi32>, %c: tensor<4x1xf32>):
    // expected-note@+1 {{'coll.dispatch' is here}}
    %r:5 = coll.dispatch %a to %b weights %c local_experts 1 capacity 8 over [[0, 1]]
        : tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>
    coll.yield %r#0 : tensor<8x4xf32>
  }
  return
}

// -----

// start_c4
func.func @start_c4(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-error@+1 {{request must be waited for exactly once}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  return
}

// -----

func.func @start_c4_twice() {
  // expected-error@+1 {{request must be waited for exactly once}}
  %q = coll.start {
    coll.barrier over [[0, 1]]
    coll.yield
  }
  // expected-note@+1 {{it is used here}}
  coll.wait %q
  // expected-note@+1 {{it is used here}}
  coll.wait %q
  return
}

// -----

func.func @start_c4_elsewhere(%c: i1) {
  // expected-error@+1 {{request must be waited for in its own block}}
  %q = coll.start {
    coll.barrier over [[0, 1]]
    coll.yield
  }
  scf.if %c {
    // expected-note@+1 {{it is used here}}
    coll.wait %q
  }
  return
}
