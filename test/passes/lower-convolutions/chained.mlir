// RUN: coll-opt %s --coll-lower-convolutions | FileCheck %s

// A convolution of what another one gives.

#image = affine_map<(b, y, x, f, ky, kx, c) -> (b, y + ky, x + kx, c)>
#filter = affine_map<(b, y, x, f, ky, kx, c) -> (ky, kx, c, f)>
#result = affine_map<(b, y, x, f, ky, kx, c) -> (b, y, x, f)>

// CHECK-LABEL: func.func @chained
// CHECK:       %[[FIRST:.*]] = coll.convolution "forward" %{{.*}} window [3, 3] output [7, 7]
// CHECK:       %[[SECOND:.*]] = coll.convolution "forward" %[[FIRST]], %{{.*}} window [3, 3] output [5, 5]
// CHECK:       return %[[SECOND]]
func.func @chained(%image: tensor<2x9x9x8xf32>, %w1: tensor<3x3x8x8xf32>, %w2: tensor<3x3x8x8xf32>)
    -> tensor<2x5x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty7 = tensor.empty() : tensor<2x7x7x8xf32>
  %zeros7 = linalg.fill ins(%zero : f32) outs(%empty7 : tensor<2x7x7x8xf32>) -> tensor<2x7x7x8xf32>
  %empty5 = tensor.empty() : tensor<2x5x5x8xf32>
  %zeros5 = linalg.fill ins(%zero : f32) outs(%empty5 : tensor<2x5x5x8xf32>) -> tensor<2x5x5x8xf32>
  %a = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %w1 : tensor<2x9x9x8xf32>, tensor<3x3x8x8xf32>) outs(%zeros7 : tensor<2x7x7x8xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x7x7x8xf32>
  %b = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%a, %w2 : tensor<2x7x7x8xf32>, tensor<3x3x8x8xf32>) outs(%zeros5 : tensor<2x5x5x8xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x5x5x8xf32>
  return %b : tensor<2x5x5x8xf32>
}
