// RUN: coll-opt %s --coll-insert-strategy='mesh=tp=2 strategy=tensor' | FileCheck %s

// The weights of a later product are known before the first is decided: here they are transposed between the two.

// CHECK-LABEL: func.func @step(
// CHECK-SAME: coll.name = "w1", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["tp"\]\]}}>
// CHECK-SAME: coll.name = "w2", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["tp"\]\]}}>
func.func @step(%w1: tensor<8x16xf32> {coll.role = "state", coll.name = "w1"},
                %w2: tensor<4x16xf32> {coll.role = "state", coll.name = "w2"},
                %x: tensor<12x8xf32> {coll.role = "batch", coll.name = "x"})
    -> (tensor<8x16xf32>, tensor<4x16xf32>, tensor<12x4xf32>) {
  %zero_h = arith.constant dense<0.0> : tensor<12x16xf32>
  %zero_y = arith.constant dense<0.0> : tensor<12x4xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<12x8xf32>, tensor<8x16xf32>)
                     outs(%zero_h : tensor<12x16xf32>) -> tensor<12x16xf32>
  %relu = arith.maximumf %h, %zero_h : tensor<12x16xf32>
  %into = tensor.empty() : tensor<16x4xf32>
  %turned = linalg.transpose ins(%w2 : tensor<4x16xf32>) outs(%into : tensor<16x4xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%relu, %turned : tensor<12x16xf32>, tensor<16x4xf32>)
                     outs(%zero_y : tensor<12x4xf32>) -> tensor<12x4xf32>
  return %w1, %w2, %y : tensor<8x16xf32>, tensor<4x16xf32>, tensor<12x4xf32>
}
