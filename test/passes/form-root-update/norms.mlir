// RUN: coll-opt %s --coll-form-root-update="root=hash" | FileCheck %s

// The norm of the update (LAMB) keeps its dimension: it is a scalar to the update, and the momentum
// that goes into it stays at the root.
// CHECK-LABEL: func.func @step(
// CHECK: %[[SCALAR:.+]] = tensor.collapse_shape %{{.+}} [] : tensor<1xf32> into tensor<f32>
// CHECK: coll.root_update grad(%{{.+}} : tensor<4xf32>) state(%{{.+}}, %{{.+}} : tensor<4xf32>, tensor<4xf32>) factor(%[[SCALAR]] : tensor<f32>) forward 1 root hash
func.func @step(%w: tensor<4xf32> {coll.role = "state"}, %m: tensor<4xf32> {coll.role = "state"},
                %g: tensor<4xf32> {coll.role = "batch"}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %m1 = arith.addf %m, %g : tensor<4xf32>
  %squares = arith.mulf %m1, %m1 : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%squares : tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %kept = tensor.expand_shape %sum [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %norm = math.sqrt %kept : tensor<1xf32>
  %e = tensor.empty() : tensor<4xf32>
  %norms = linalg.generic {indexing_maps = [affine_map<(i) -> (0)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%norm : tensor<1xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  %step = arith.divf %m1, %norms : tensor<4xf32>
  %w1 = arith.subf %w, %step : tensor<4xf32>
  %y = math.sqrt %w : tensor<4xf32>
  %sorted = coll.sort %y dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<4xf32>
  return %w1, %m1, %sorted : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
