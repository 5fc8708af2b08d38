// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --coll-import-stablehlo | FileCheck %s

// A constant stays one under broadcast; a unit dimension is read at 0.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2) -> (0, d2)>
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<1x3xf32>
// CHECK: %[[SPLAT:.*]] = arith.constant dense<2.500000e+00> : tensor<2x3xf32>
// CHECK: %[[SPREAD:.*]] = linalg.generic {indexing_maps = [#[[READ]], {{.*}} ins(%[[X]]
// CHECK: return %[[SPLAT]], %[[SPREAD]]
func.func @main(%x: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<4x2x3xf32>) {
  %c = "stablehlo.constant"() <{value = dense<2.5> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.broadcast_in_dim"(%c) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
  %1 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<1x3xf32>) -> tensor<4x2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<4x2x3xf32>
}

// -----

// A general reshape collapses, then expands, as little as it can.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>
// CHECK: tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0], [1, 2]] output_shape [6, 2, 2]
// CHECK: tensor.expand_shape %[[X]] {{\[\[}}0], [1], [2, 3]] output_shape [2, 3, 2, 2]
func.func @main(%x: tensor<2x3x4xf32>) -> (tensor<6x4xf32>, tensor<6x2x2xf32>, tensor<2x3x2x2xf32>) {
  %0 = "stablehlo.reshape"(%x) : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = "stablehlo.reshape"(%x) : (tensor<2x3x4xf32>) -> tensor<6x2x2xf32>
  %2 = "stablehlo.reshape"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x2x2xf32>
  return %0, %1, %2 : tensor<6x4xf32>, tensor<6x2x2xf32>, tensor<2x3x2x2xf32>
}

// -----

// CHECK-DAG: #[[ROTATED:.*]] = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-DAG: #[[REVERSED:.*]] = affine_map<(d0, d1, d2) -> (d0, -d1 + 2, d2)>
// CHECK-LABEL: @step
// CHECK: linalg.generic {indexing_maps = [#[[ROTATED]],
// CHECK: linalg.generic {indexing_maps = [#[[REVERSED]],
func.func @main(%x: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = "stablehlo.reverse"(%x) <{dimensions = array<i64: 1>}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %0, %1 : tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: @step
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: arith.index_cast %[[I]] : index to i32
// CHECK: linalg.generic
// CHECK: %[[J:.*]] = linalg.index 0
// CHECK: %[[INT:.*]] = arith.index_cast %[[J]] : index to i64
// CHECK: arith.sitofp %[[INT]] : i64 to f32
func.func @main() -> (tensor<2x3xi32>, tensor<2x3xf32>) {
  %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>
  %1 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xi32>, tensor<2x3xf32>
}

// -----

// Sizes round up; an empty slice may start at the end.
// CHECK-LABEL: @step
// CHECK: tensor.extract_slice %{{.*}}[1] [3] [2] : tensor<7xf32> to tensor<3xf32>
// CHECK: tensor.empty() : tensor<0xf32>
func.func @main(%x: tensor<7xf32>) -> (tensor<3xf32>, tensor<0xf32>) {
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 1>, limit_indices = array<i64: 7>, strides = array<i64: 2>}> : (tensor<7xf32>) -> tensor<3xf32>
  %1 = "stablehlo.slice"(%x) <{start_indices = array<i64: 7>, limit_indices = array<i64: 7>, strides = array<i64: 1>}> : (tensor<7xf32>) -> tensor<0xf32>
  return %0, %1 : tensor<3xf32>, tensor<0xf32>
}

// -----

// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32> {{.*}}, %[[Y:.*]]: tensor<2x1xf32>
// CHECK: tensor.concat dim(1) %[[X]], %[[Y]]
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>, %z: tensor<2x0xf32>) -> tensor<2x4xf32> {
  %0 = "stablehlo.concatenate"(%x, %z, %y) <{dimension = 1 : i64}> : (tensor<2x3xf32>, tensor<2x0xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// Interior padding is a strided insertion, a negative edge a slice.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>
// CHECK: %[[SPREAD:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0] [3] [2] : tensor<3xf32> into tensor<5xf32>
// CHECK: %[[CUT:.*]] = tensor.extract_slice %[[SPREAD]][0] [4] [1]
// CHECK: tensor.pad %[[CUT]] low[2] high[0]
func.func @main(%x: tensor<3xf32>) -> tensor<6xf32> {
  %c = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.pad"(%x, %c) <{edge_padding_low = array<i64: 2>, edge_padding_high = array<i64: -1>, interior_padding = array<i64: 1>}> : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// Nothing of the operand is left.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<3xf32> {{.*}}, %[[V:.*]]: tensor<f32>
// CHECK: linalg.generic {{.*}} ins(%[[V]] : tensor<f32>) outs(%{{.*}} : tensor<4xf32>)
func.func @main(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  %0 = "stablehlo.pad"(%x, %v) <{edge_padding_low = array<i64: -3>, edge_padding_high = array<i64: 4>, interior_padding = array<i64: 0>}> : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What has no elements is not computed.
// CHECK-LABEL: @step
// CHECK: %[[NONE:.*]] = tensor.empty() : tensor<3x0xf32>
// CHECK-NEXT: return %[[NONE]]
func.func @main(%x: tensor<3x0xf32>) -> tensor<3x0xf32> {
  %0 = "stablehlo.concatenate"(%x, %x) <{dimension = 1 : i64}> : (tensor<3x0xf32>, tensor<3x0xf32>) -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}
