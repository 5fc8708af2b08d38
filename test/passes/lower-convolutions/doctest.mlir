// RUN: coll-opt %s --coll-lower-convolutions | FileCheck %s

// The padding becomes an attribute, and the filter is copied into the order of coll.convolution.

#image = affine_map<(b, y, x, f, ky, kx, c) -> (b, y * 2 + ky, x * 2 + kx, c)>
#filter = affine_map<(b, y, x, f, ky, kx, c) -> (ky, kx, c, f)>
#result = affine_map<(b, y, x, f, ky, kx, c) -> (b, y, x, f)>

// CHECK:       #[[$ORDER:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3, d0)>
// CHECK-LABEL: func.func @strided
// CHECK-SAME:    %[[IMAGE:.*]]: tensor<2x9x9x3xf32>, %[[FILTER:.*]]: tensor<3x3x3x8xf32>
// CHECK-NOT:   tensor.insert_slice
// CHECK:       %[[ARRANGED:.*]] = linalg.generic {indexing_maps = [#[[$ORDER]],
// CHECK-SAME:    ins(%[[FILTER]] : tensor<3x3x3x8xf32>) outs(%{{.*}} : tensor<8x3x3x3xf32>)
// CHECK:       %[[RESULT:.*]] = coll.convolution "forward" %[[IMAGE]], %[[ARRANGED]] sizes [2, 1, 3, 8] input [9, 9]
// CHECK-SAME:    window [3, 3] output [5, 5] strides [2, 2] dilations [1, 1] pads [1, 1]
// CHECK:       return %[[RESULT]]
func.func @strided(%image: tensor<2x9x9x3xf32>, %filter: tensor<3x3x3x8xf32>) -> tensor<2x5x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<2x11x11x3xf32>
  %padded = tensor.insert_slice %image into %zeros[0, 1, 1, 0] [2, 9, 9, 3] [1, 1, 1, 1]
      : tensor<2x9x9x3xf32> into tensor<2x11x11x3xf32>
  %empty = tensor.empty() : tensor<2x5x5x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x5x5x8xf32>) -> tensor<2x5x5x8xf32>
  %r = linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %filter : tensor<2x11x11x3xf32>, tensor<3x3x3x8xf32>) outs(%init : tensor<2x5x5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x5x5x8xf32>
  return %r : tensor<2x5x5x8xf32>
}
