// RUN: coll-opt %s --split-input-file --verify-diagnostics --coll-to-exec

// expected-error@+1 {{has no function @step}}
coll.program @no_step ranks [0] {
  func.func @init(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

coll.program @compute ranks [0] {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{cannot be in kernel form: it makes a tensor outside a kernel}}
    %y = arith.negf %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

coll.program @access ranks [0] {
  // expected-error@+1 {{argument 0 cannot have access "write"}}
  func.func private @kernel_0(%x: tensor<4xf32> {coll.access = "write"}, %d: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    %d = tensor.empty() : tensor<4xf32>
    %r = func.call @kernel_0(%x, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

coll.program @callee ranks [0] {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{calls 'step', which is not a kernel}}
    %r = func.call @step(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

coll.program @scalar ranks [0] {
  // expected-error@+1 {{arguments must be tensors, not 'index'}}
  func.func @step(%i: index) {
    return
  }
}

// -----

// expected-error@+1 {{argument 0 is a 'tensor<1xcomplex<f32>>', whose size in memory is not known}}
func.func @step(%x: tensor<1xcomplex<f32>>) {
  return
}

// -----

// An @init is given the state and nothing else.
// expected-error@+1 {{must take and return the 0 state arguments of @step, in order}}
func.func @init(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

coll.mesh @m ["dp" = 2]
// expected-error@+1 {{argument 0 is partial, but what each rank contributes is not known}}
func.func @step(%x: tensor<4xf32> {coll.sharding = #coll.sharding<@m, [[]], partial sum ["dp"]>}) {
  return
}

// -----

coll.mesh @m ["dp" = 2]
// expected-error@+1 {{result 0 is partial: it must be combined}}
func.func @step(%x: tensor<4xf32>)
    -> (tensor<4xf32> {coll.sharding = #coll.sharding<@m, [[]], partial max ["dp"]>}) {
  return %x : tensor<4xf32>
}
