// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --coll-import-stablehlo | FileCheck %s

// jax.debug.print: what it prints does not matter to the step.
// CHECK-LABEL: @step(%arg0: tensor<f32>
// CHECK-NOT: custom_call
// CHECK: return %arg0
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  // expected-remark @below {{a call of Python without results is left out}}
  "stablehlo.custom_call"(%x) <{call_target_name = "xla_ffi_python_cpu_callback"}> : (tensor<f32>) -> ()
  return %x : tensor<f32>
}

// -----

// eqx.error_if: the branch without the error is taken.
// CHECK-LABEL: @step(%arg0: tensor<4xf32>
// CHECK-NOT: scf.if
// CHECK: return %arg0
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  // expected-remark @below {{an error check that calls Python is left out}}
  %0 = "stablehlo.case"(%i) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }, {
    %1 = "stablehlo.custom_call"(%x) <{call_target_name = "xla_python_gpu_callback"}> : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A branch that computes something is no error check, and pure_callback is used.
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }, {
    // expected-error @below {{cannot import 1 kind of operation or type}}
    // expected-note @below {{@xla_python_cpu_callback, 1 time: a step cannot use what Python computes}}
    %1 = "stablehlo.custom_call"(%x) <{call_target_name = "xla_python_cpu_callback"}> : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Ordered callbacks have tokens.
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{cannot import 2 kinds of operation or type}}
  // expected-note @below {{type !stablehlo.token, 1 time: it puts calls of Python in order; leave out ordered=True}}
  // expected-note @below {{stablehlo.custom_call @xla_ffi_python_cpu_callback, 1 time}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "xla_ffi_python_cpu_callback"}> : (tensor<f32>) -> !stablehlo.token
  return %x : tensor<f32>
}
