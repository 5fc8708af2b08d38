// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --coll-import-stablehlo

// Everything that cannot be imported is listed at once.
func.func @main(%x: tensor<4xf32>, %z: tensor<f32>, %s: tensor<1xi64>) -> tensor<4xf32> {
  // expected-error @below {{cannot import 3 kinds of operation or type}}
  // expected-note @below {{stablehlo.cholesky, 2 times: linear solvers and decompositions are not supported}}
  %0 = "stablehlo.cholesky"(%x) <{lower = true}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.cholesky"(%0) <{lower = true}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{some.thing, 1 time}}
  %2 = "some.thing"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{stablehlo.rng, 1 time: its random bits are not defined by the program; use jax.random}}
  %3 = "stablehlo.rng"(%z, %z, %s) : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// expected-error @below {{cannot import 1 kind of operation or type}}
// expected-note @below {{type tensor<?xf32>, 1 time: it has dynamic dimensions}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{cannot import 2 kinds of operation or type}}
  // expected-note @below {{type tensor<4xcomplex<f32>>, 1 time: it has complex elements}}
  // expected-note @below {{stablehlo.complex, 1 time: complex numbers are not supported}}
  %0 = "stablehlo.complex"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{cannot import 1 kind of operation or type}}
  // expected-note @below {{stablehlo.custom_call @lapack_sgetrf, 1 time: linear solvers and decompositions are not supported}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "lapack_sgetrf"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Only what the step reaches counts.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.cholesky"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{calls @f recursively}}
  %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// JAX's own functions have no lines: the place is where the step calls them.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{cannot import 2 kinds of operation or type}}
  // expected-note @below {{@lapack_spotrf_ffi, 1 time: linear solvers and decompositions are not supported}}
  // expected-note @below {{stablehlo.fft, 1 time: Fourier transforms are not supported}}
  %0 = func.call @outer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @outer(%x: tensor<4xf32> loc(unknown)) -> tensor<4xf32> {
  %0 = func.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("cholesky")
  return %0 : tensor<4xf32> loc(unknown)
} loc(unknown)
func.func private @inner(%x: tensor<4xf32> loc(unknown)) -> tensor<4xf32> {
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "lapack_spotrf_ffi"}> : (tensor<4xf32>) -> tensor<4xf32> loc("cholesky")
  %1 = "stablehlo.fft"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("fft")
  return %1 : tensor<4xf32> loc(unknown)
} loc(unknown)

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{cannot import 1 kind of operation or type}}
  // expected-note @below {{sdy.manual_computation, 1 time: shard_map is not supported: the step must be written for one device}}
  %0 = "sdy.manual_computation"(%x) ({
  ^bb0(%y: tensor<4xf32>):
    "sdy.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
