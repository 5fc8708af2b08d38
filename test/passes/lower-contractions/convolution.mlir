// RUN: coll-opt %s --coll-lower-indexed --coll-lower-contractions | FileCheck %s

#image = affine_map<(b, y, x, f, ky, kx, c) -> (b, y * 2 + ky, x * 2 + kx, c)>
#kernel = affine_map<(b, y, x, f, ky, kx, c) -> (ky, kx, c, f)>
#result = affine_map<(b, y, x, f, ky, kx, c) -> (b, y, x, f)>

// The image is packed once, window by window; then it is one matrix product.

// CHECK:       #[[$WINDOWS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d3, d2 * 2 + d4, d5)>
// CHECK-LABEL: func.func @strided
// CHECK-SAME:    %[[IMAGE:.*]]: tensor<2x11x11x16xf32>, %[[KERNEL:.*]]: tensor<3x3x16x8xf32>
// CHECK:       %[[PACKED:.*]] = linalg.generic {indexing_maps = [#[[$WINDOWS]]
// CHECK-SAME:    ins(%[[IMAGE]] : tensor<2x11x11x16xf32>) outs(%{{.*}} : tensor<2x5x5x3x3x16xf32>)
// CHECK:       coll.gemm %[[PACKED]], %[[KERNEL]] into %{{.*}} mnk [50, 8, 144] lds [144, 8, 8]
func.func @strided(%image: tensor<2x11x11x16xf32>, %kernel: tensor<3x3x16x8xf32>) -> tensor<2x5x5x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x5x5x8xf32>
  %r = linalg.generic {indexing_maps = [#image, #kernel, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %kernel : tensor<2x11x11x16xf32>, tensor<3x3x16x8xf32>) outs(%zero : tensor<2x5x5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x5x5x8xf32>
  return %r : tensor<2x5x5x8xf32>
}
