// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --coll-import-stablehlo | FileCheck %s

// Padding first; then one generic that reads at o * stride + w * dilation.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3 * 2, d4)>
// CHECK-DAG: #[[KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<2x8x3xf32> {{.*}}, %[[K:.*]]: tensor<3x3x4xf32>
// CHECK: %[[PADDED:.*]] = tensor.pad %[[X]] low[0, 1, 0] high[0, 0, 0]
// CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[KERNEL]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[PADDED]], %[[K]]
func.func @main(%x: tensor<2x8x3xf32>, %k: tensor<3x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, padding = dense<[[1, 0]]> : tensor<1x2xi64>, rhs_dilation = array<i64: 2>, window_strides = array<i64: 2>}> : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// A gradient with respect to the kernel: features and batch change places.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d0 + d3, d1)>
// CHECK-DAG: #[[KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3, d2)>
// CHECK-LABEL: @step
// CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[KERNEL]],
func.func @main(%x: tensor<2x8x3xf32>, %k: tensor<2x8x4xf32>) -> tensor<3x3x4xf32> {
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, b]x[i, 0, o]->[0, b, f]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<1x2xi64>, window_strides = array<i64: 1>}> : (tensor<2x8x3xf32>, tensor<2x8x4xf32>) -> tensor<3x3x4xf32>
  return %0 : tensor<3x3x4xf32>
}

// -----

// Spread input, reversed window, negative padding.
// CHECK-DAG: #[[REVERSED:.*]] = affine_map<(d0, d1, d2) -> (-d0 + 1, d1, d2)>
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<1x4x1xf32>
// CHECK: %[[KERNEL:.*]] = linalg.generic {indexing_maps = [#[[REVERSED]],
// CHECK: %[[SPREAD:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 0, 0] [1, 4, 1] [1, 2, 1]
// CHECK: %[[CUT:.*]] = tensor.extract_slice %[[SPREAD]][0, 1, 0] [1, 6, 1] [1, 1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[CUT]], %[[KERNEL]]
func.func @main(%x: tensor<1x4x1xf32>, %k: tensor<2x1x1xf32>) -> tensor<1x5x1xf32> {
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2>, padding = dense<[[-1, 0]]> : tensor<1x2xi64>, window_reversal = array<i1: true>}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x5x1xf32>
  return %0 : tensor<1x5x1xf32>
}

// -----

// Groups become a dimension of their own.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2, d5)>
// CHECK-DAG: #[[KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d2, d3)>
// CHECK-LABEL: @step
// CHECK: tensor.expand_shape %{{.*}} output_shape [2, 8, 3, 2]
// CHECK: tensor.expand_shape %{{.*}} output_shape [1, 2, 3, 3]
// CHECK: %[[OUT:.*]] = linalg.generic {indexing_maps = [#[[IN]], #[[KERNEL]],
// CHECK: tensor.collapse_shape %[[OUT]] {{.*}} into tensor<2x8x9xf32>
func.func @main(%x: tensor<2x8x6xf32>, %k: tensor<1x2x9xf32>) -> tensor<2x8x9xf32> {
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 3 : i64}> : (tensor<2x8x6xf32>, tensor<1x2x9xf32>) -> tensor<2x8x9xf32>
  return %0 : tensor<2x8x9xf32>
}

// -----

// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d0, d1 + d4, d5)>
// CHECK-LABEL: @step
// CHECK: tensor.expand_shape %{{.*}} output_shape [2, 2, 8, 3]
// CHECK: tensor.expand_shape %{{.*}} output_shape [1, 3, 2, 3]
// CHECK: linalg.generic {indexing_maps = [#[[IN]],
func.func @main(%x: tensor<4x8x3xf32>, %k: tensor<1x3x6xf32>) -> tensor<2x8x6xf32> {
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 2 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<4x8x3xf32>, tensor<1x3x6xf32>) -> tensor<2x8x6xf32>
  return %0 : tensor<2x8x6xf32>
}

// -----

// Padding stands behind the groups, right before the windows that slide over it.
// CHECK-LABEL: @step
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %{{.*}} output_shape [2, 8, 6, 1]
// CHECK: %[[PADDED:.*]] = tensor.pad %[[SPLIT]] low[0, 1, 0, 0] high[0, 1, 0, 0]
// CHECK: linalg.generic {{.*}} ins(%[[PADDED]],
func.func @main(%x: tensor<2x8x6xf32>, %k: tensor<3x1x6xf32>) -> tensor<2x8x6xf32> {
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 6 : i64, padding = dense<1> : tensor<1x2xi64>}> : (tensor<2x8x6xf32>, tensor<3x1x6xf32>) -> tensor<2x8x6xf32>
  return %0 : tensor<2x8x6xf32>
}
