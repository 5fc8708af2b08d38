// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --coll-import-stablehlo | FileCheck %s

// The window's loops get their sizes from an empty operand. Padding does not
// count, and the initial value counts once.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2 * 2)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: @step
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 2] high[0, 1]
// CHECK: tensor.yield %[[ZERO]]
// CHECK: %[[SIZES:.*]] = tensor.empty() : tensor<2xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[READ]], #[[WINDOW]], {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[PADDED]], %[[SIZES]]
// CHECK: %[[INIT:.*]] = arith.constant dense<5.000000e+00> : tensor<2x4xf32>
// CHECK: arith.addf %[[INIT]], %[[SUM]]
func.func @main(%x: tensor<2x6xf32>) -> tensor<2x4xf32> {
  %c = "stablehlo.constant"() <{value = dense<5.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, window_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [2, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// The gradient of a pooling: which element each window selected, then a sum there.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<3x6xf32> {{.*}}, %[[Y:.*]]: tensor<3x3xf32>
// CHECK: %[[NONE:.*]] = arith.constant dense<-1> : tensor<3x3xi32>
// CHECK: %[[SELECTED:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], {{.*}} outs(%{{.*}}, %[[NONE]]
// CHECK: arith.cmpf oge
// CHECK: %[[INDICES:.*]] = tensor.expand_shape %[[SELECTED]]#1 {{.*}} output_shape [3, 3, 1]
// CHECK: coll.accumulate %[[Y]] into %{{.*}}[%[[INDICES]]] inserted_dims [1] operand_batch_dims [0] indices_batch_dims [0] index_map [1]
// CHECK: arith.addf
func.func @main(%x: tensor<3x6xf32>, %y: tensor<3x3xf32>) -> tensor<3x6xf32> {
  %c = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %y, %c) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<3x6xf32>, tensor<3x3xf32>, tensor<f32>) -> tensor<3x6xf32>
  return %0 : tensor<3x6xf32>
}

// -----

// What the last window leaves over is cut off: every operand's extent is that of its loops.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.*]]: tensor<5xf32>
// CHECK: %[[FITS:.*]] = tensor.extract_slice %[[X]][0] [4] [1]
// CHECK: linalg.generic {{.*}} ins(%[[FITS]], %{{.*}} : tensor<4xf32>, tensor<4xf32>)
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<5xf32>) -> tensor<1xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<5xf32>):
    %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %r = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<0> : tensor<1x2xi64>,
        window_dimensions = array<i64: 4>, window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<5xf32>, tensor<f32>) -> tensor<1xf32>
    "func.return"(%r) : (tensor<1xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----

// A running sum of 700 elements: blocks of 32, their sums, and what is before each of them.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<2x700xf32>
// CHECK: %[[FILLED:.*]] = tensor.pad %[[X]] low[0, 0] high[0, 4]
// CHECK: %[[BLOCKS:.*]] = tensor.expand_shape %[[FILLED]] {{.*}} output_shape [2, 22, 32]
// CHECK: %[[PADDED:.*]] = tensor.pad %[[BLOCKS]] low[0, 0, 31] high[0, 0, 0]
// CHECK: %[[INSIDE:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[PADDED]],
// CHECK: %[[TOTALS:.*]] = tensor.extract_slice %[[INSIDE]][0, 0, 31] [2, 22, 1]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: %[[JOINED:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} {{.*}} outs(%[[INSIDE]] :
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[JOINED]]
// CHECK: tensor.extract_slice %[[FLAT]][0, 0] [2, 700]
func.func @main(%x: tensor<2x700xf32>) -> tensor<2x700xf32> {
  %c = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1, 700>, padding = dense<[[0, 0], [699, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<2x700xf32>, tensor<f32>) -> tensor<2x700xf32>
  return %0 : tensor<2x700xf32>
}

// -----

// From the end: a block's sum is in its first place.
// CHECK-LABEL: @step
// CHECK: tensor.pad {{.*}} low[1] high[0]
// CHECK: %[[TURNED:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: arith.maximumf
// CHECK: tensor.extract_slice %[[TURNED]][0, 0] [32, 1]
func.func @main(%x: tensor<1023xf32>) -> tensor<1023xf32> {
  %c = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1023>, padding = dense<[[0, 1022]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<1023xf32>, tensor<f32>) -> tensor<1023xf32>
  return %0 : tensor<1023xf32>
}
