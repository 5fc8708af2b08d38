// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --coll-import-stablehlo=state-args=1 | FileCheck %s

// A dict of metrics: each result has the name of its key, and the loss is the one called so.
// CHECK-LABEL: @step
// CHECK-SAME: -> (tensor<2xf32>, tensor<f32> {coll.name = "accuracy"}, tensor<f32> {coll.name = "loss"}, tensor<2xf32> {coll.name = "result[1]['sizes'][0]"}, tensor<f32> {coll.name = "perplexity"})
func.func @main(%w: tensor<2xf32>, %x: tensor<f32>) -> (tensor<2xf32> {jax.result_info = "result[0]"},
    tensor<f32> {jax.result_info = "result[1]['accuracy']"}, tensor<f32> {jax.result_info = "result[1]['loss']"},
    tensor<2xf32> {jax.result_info = "result[1]['sizes'][0]"}, tensor<f32> {jax.result_info = "result[1].aux.perplexity"}) {
  return %w, %x, %x, %w, %x : tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<f32>
}

// -----

// Keys that occur twice do not tell results apart.
// CHECK-LABEL: @step
// CHECK-SAME: -> (tensor<2xf32>, tensor<f32> {coll.name = "result[1]['a']['norm']"}, tensor<f32> {coll.name = "result[1]['b']['norm']"})
func.func @main(%w: tensor<2xf32>, %x: tensor<f32>) -> (tensor<2xf32>,
    tensor<f32> {jax.result_info = "result[1]['a']['norm']"}, tensor<f32> {jax.result_info = "result[1]['b']['norm']"}) {
  return %w, %x, %x : tensor<2xf32>, tensor<f32>, tensor<f32>
}

// -----

// The only scalar is the loss, whatever stands beside it; of two none is called so.
// CHECK-LABEL: @step
// CHECK-SAME: -> (tensor<2xf32>, tensor<f32> {coll.name = "loss"}, tensor<2xf32> {coll.name = "result[2]"})
func.func @main(%w: tensor<2xf32>, %x: tensor<f32>) -> (tensor<2xf32> {jax.result_info = "result[0]"},
    tensor<f32> {jax.result_info = "result[1]"}, tensor<2xf32> {jax.result_info = "result[2]"}) {
  return %w, %x, %w : tensor<2xf32>, tensor<f32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: @step
// CHECK-SAME: -> (tensor<2xf32>, tensor<f32> {coll.name = "result[1]"}, tensor<f32> {coll.name = "result[2]"})
func.func @main(%w: tensor<2xf32>, %x: tensor<f32>) -> (tensor<2xf32> {jax.result_info = "result[0]"},
    tensor<f32> {jax.result_info = "result[1]"}, tensor<f32> {jax.result_info = "result[2]"}) {
  return %w, %x, %x : tensor<2xf32>, tensor<f32>, tensor<f32>
}
