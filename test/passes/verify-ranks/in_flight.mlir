// RUN: coll-opt %s --coll-verify-ranks --split-input-file --verify-diagnostics

// The source may be read meanwhile; source and destination may be equal.

func.func @step(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  %y = arith.addf %x, %x : tensor<4xf32>
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  %p = coll.start ins(%y : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  %z = coll.wait %p ins(%y : tensor<4xf32>) outs(%y : tensor<4xf32>)
  %v = arith.addf %d, %z : tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

// The destination is read before its wait.

func.func @step(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-note@below {{in flight from here}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // expected-error@below {{uses the destination of a coll.start while it is in flight}}
  %y = arith.addf %d, %x : tensor<4xf32>
  // expected-note@below {{until here}}
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}

// -----

// A view of it, inside a region.

func.func @step(%x: tensor<4xf32>, %e: tensor<2x2xf32>, %c: i1) {
  %d = tensor.collapse_shape %e [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  // expected-note@below {{in flight from here}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  scf.if %c {
    // expected-error@below {{uses the destination of a coll.start while it is in flight}}
    %y = arith.addf %e, %e : tensor<2x2xf32>
  }
  // expected-note@below {{until here}}
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}

// -----

// Two operations into one destination.

func.func @step(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  // expected-note@below {{in flight from here}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // expected-error@below {{uses the destination of a coll.start while it is in flight}}
  %p = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce max %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // expected-note@below {{until here}}
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  %t = coll.wait %p ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}

// -----

// Received into what is being sent.

func.func @step(%x: tensor<4xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-note@below {{in flight from here}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // expected-error@below {{overwrites the source of a coll.start while it is in flight}}
  %p = coll.start ins(%e : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce max %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  %t = coll.wait %p ins(%e : tensor<4xf32>) outs(%x : tensor<4xf32>)
  // expected-note@below {{until here}}
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}

// -----

// Source and destination overlap without being equal.

func.func @step(%e: tensor<2x2xf32>) {
  %x = tensor.collapse_shape %e [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %d = tensor.collapse_shape %e [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  // expected-error@below {{has a source that overlaps the destination, but is not equal}}
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}
