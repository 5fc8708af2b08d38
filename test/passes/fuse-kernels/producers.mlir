// RUN: coll-opt %s --coll-lower-indexed --coll-fuse-kernels --split-input-file | FileCheck %s

// A broadcast is never materialised, whatever reshapes stand between.

// CHECK-LABEL: func.func @broadcast
// CHECK:       linalg.generic
// CHECK-NOT:   linalg.generic
// CHECK:       return
func.func @broadcast(%x: tensor<8x16xf32>, %row: tensor<8xf32>) -> tensor<8x16xf32> {
  %column = tensor.expand_shape %row [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %all = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%column : tensor<8x1xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<8x16xf32>
  %r = arith.subf %x, %all : tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// An exponential is not computed twice: its two users share one nest or read it.

// CHECK-LABEL: func.func @softmax_tail
// CHECK:       linalg.generic
// CHECK:         math.exp
// CHECK:         arith.addf
// CHECK:       linalg.generic
// CHECK-NOT:     math.exp
// CHECK:         arith.divf
func.func @softmax_tail(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %exp = math.exp %x : tensor<8x16xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<8x16xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<8x16xf32>
  %all = linalg.broadcast ins(%sum : tensor<8xf32>) outs(%e : tensor<8x16xf32>) dimensions = [1]
  %r = arith.divf %exp, %all : tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// A square root per row stays a small nest of its own: the consumer would repeat
// it for every column.

// CHECK-LABEL: func.func @per_row
// CHECK:       math.rsqrt
// CHECK:       -> tensor<8xf32>
// CHECK:       arith.mulf
// CHECK:       -> tensor<8x16xf32>
func.func @per_row(%x: tensor<8x16xf32>, %v: tensor<8xf32>) -> tensor<8x16xf32> {
  %s = math.rsqrt %v : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %all = linalg.broadcast ins(%s : tensor<8xf32>) outs(%e : tensor<8x16xf32>) dimensions = [1]
  %r = arith.mulf %x, %all : tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// A collective between two nests is not crossed: the first result is sent before
// the second is computed.

coll.mesh @m ["dp" = 4]

// CHECK-LABEL: func.func @collective_between
// CHECK:       linalg.generic
// CHECK:       coll.all_reduce
// CHECK:       linalg.generic
func.func @collective_between(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = arith.addf %x, %y : tensor<8xf32>
  %sum = coll.all_reduce sum %a over @m["dp"] : tensor<8xf32>
  %b = arith.mulf %x, %sum : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// What is computed from constants is a constant.

// CHECK-LABEL: func.func @constant
// CHECK:       %[[C:.*]] = arith.constant dense<3.0{{.*}}> : tensor<8xf32>
// CHECK:       return %[[C]]
func.func @constant() -> tensor<8xf32> {
  %c = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%e : tensor<8xf32>) {
  ^bb0(%out: f32):
    linalg.yield %c : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A window with one position and a remainder: the loop that stays is as long as the window.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<3xf32>
// CHECK: %[[READ:.*]] = tensor.extract_slice %[[X]][0] [3] [1]
// CHECK: linalg.generic {{.*}} ins(%[[READ]], %[[W]] : tensor<3xf32>, tensor<3xf32>)
func.func @step(%x: tensor<4xf32>, %w: tensor<3xf32>, %start: tensor<1xf32>) -> tensor<1xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 + d1)>, affine_map<(d0, d1) -> (d1)>,
                       affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<4xf32>, tensor<3xf32>) outs(%start : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
