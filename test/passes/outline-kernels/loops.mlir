// RUN: coll-opt %s --coll-lower-indexed --coll-outline-kernels --split-input-file | FileCheck %s

// The sum along the last dimension may be split; NaN and infinity keep their meaning.

// CHECK-LABEL: func.func private @kernel_0
// CHECK:       linalg.fill
// CHECK:       iterator_types = ["parallel", "reduction"]
// CHECK:       arith.addf {{.*}} fastmath<reassoc,contract> : f32
func.func @rows(%x: tensor<8x64xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<8x64xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
  return %r : tensor<8xf32>
}

// -----

// The sum along the first dimension runs row by row.

// CHECK-LABEL: func.func private @kernel_0
// CHECK:       iterator_types = ["reduction", "parallel"]
// CHECK-NOT:   fastmath
func.func @columns(%x: tensor<8x64xf32>) -> tensor<64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<8x64xf32>) outs(%zero : tensor<64xf32>) dimensions = [0]
  return %r : tensor<64xf32>
}

// -----

// Loops that are one are joined; the reshapes around are views.

// CHECK-LABEL: func.func @flat
// CHECK:       tensor.collapse_shape
// CHECK:       call @kernel_0
// CHECK:       tensor.expand_shape
// CHECK:       func.func private @kernel_0
// CHECK-SAME:    tensor<120xf32>
func.func @flat(%x: tensor<4x5x6xf32>) -> tensor<4x5x6xf32> {
  %r = math.tanh %x : tensor<4x5x6xf32>
  return %r : tensor<4x5x6xf32>
}
