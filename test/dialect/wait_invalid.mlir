// RUN: coll-opt %s --verify-diagnostics --split-input-file

// wait_c1
func.func @wait_c1(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-note@+1 {{it was started here}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // expected-error@+1 {{ins differ from those of coll.start}}
  %r = coll.wait %q ins(%d : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}

// -----

func.func @wait_c1_outs(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-note@+1 {{it was started here}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // expected-error@+1 {{outs differ from those of coll.start}}
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
  return
}

// -----

func.func @wait_c1_no_start(%q: !coll.request) {
  // expected-error@+1 {{request must be the result of coll.start}}
  coll.wait %q
  return
}

// -----

// wait_c2
func.func @wait_c2(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // expected-error@+2 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = "coll.wait"(%q, %x, %d) {operandSegmentSizes = array<i32: 1, 1, 1>} : (!coll.request, tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}
