// RUN: coll-opt %s --coll-propagate | FileCheck %s

coll.mesh @m ["dp" = 4]

// Rows of %x are split, so rows of the product are; the sum over rows is partial, and
// stays so when it is scaled.
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<8x6xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                %w: tensor<6x4xf32>) -> tensor<4xf32> {
  // CHECK: arith.constant {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %zero_r = arith.constant dense<0.0> : tensor<4xf32>
  %half = arith.constant dense<0.5> : tensor<4xf32>
  // CHECK: linalg.matmul {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
  %p = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x4xf32>)
                     outs(%zero : tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: linalg.reduce {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}, partial sum ["dp"]>]}
  %s = linalg.reduce { arith.addf } ins(%p : tensor<8x4xf32>) outs(%zero_r : tensor<4xf32>)
                     dimensions = [0]
  // CHECK: arith.mulf {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}, partial sum ["dp"]>]}
  %r = arith.mulf %s, %half : tensor<4xf32>
  return %r : tensor<4xf32>
}
