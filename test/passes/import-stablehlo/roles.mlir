// RUN: coll-opt %s --allow-unregistered-dialect --coll-import-stablehlo='state-args=2' | FileCheck %s --check-prefix=COUNT
// RUN: coll-opt %s --allow-unregistered-dialect --coll-import-stablehlo='state-prefix=params' | FileCheck %s --check-prefix=PREFIX
// RUN: coll-opt %s --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s --check-prefix=GUESS

// `state-args` counts, `state-prefix` names; by itself the pass takes the leading
// arguments of one root, if the leading results have their types.

// COUNT: @step(%{{.*}} {coll.name = "params['w']", coll.role = "state"}, %{{.*}} {coll.name = "opt.m", coll.role = "state"}, %{{.*}} {coll.name = "x", coll.role = "batch"})
// COUNT-SAME: tensor<i32> {coll.name = "result[2]"}, tensor<f32> {coll.name = "loss"})
// PREFIX: coll.role = "state"}
// PREFIX-SAME: coll.role = "batch"}
// PREFIX-SAME: coll.role = "batch"}
// GUESS: coll.role = "state"}
// GUESS-SAME: coll.role = "batch"}
// GUESS-SAME: coll.role = "batch"}
func.func @main(%w: tensor<3xf32> loc("params['w']"), %m: tensor<3xf32> loc("opt.m"), %x: tensor<f32> loc("x")) -> (tensor<3xf32>, tensor<3xf32>, tensor<i32> {jax.result_info = "result[2]"}, tensor<f32>) {
  %0 = "stablehlo.convert"(%x) : (tensor<f32>) -> tensor<i32>
  return %w, %m, %0, %x : tensor<3xf32>, tensor<3xf32>, tensor<i32>, tensor<f32>
}
