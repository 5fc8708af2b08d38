// RUN: coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 strategy=data,tensor' | FileCheck %s

// CHECK: coll.mesh @mesh ["dp" = 2, "tp" = 2]

// State that is split is each rank's own; what is whole comes from rank 0.
// CHECK-LABEL: func.func @init(
// CHECK: coll.init over @mesh["dp", "tp"]
// CHECK-NOT: coll.broadcast

// The first weights are split by columns, the second ones by rows, the batch by its dimension 0.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: coll.name = "w1", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["tp"\]\]}}>
// CHECK-SAME: coll.name = "w2", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["tp"\], \[\]\]}}>
// CHECK-SAME: coll.name = "x", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\], \[\]\]}}>
func.func @step(%w1: tensor<8x16xf32> {coll.role = "state", coll.name = "w1"},
                %w2: tensor<16x4xf32> {coll.role = "state", coll.name = "w2"},
                %x: tensor<12x8xf32> {coll.role = "batch", coll.name = "x"})
    -> (tensor<8x16xf32>, tensor<16x4xf32>, tensor<12x4xf32>) {
  %zero_h = arith.constant dense<0.0> : tensor<12x16xf32>
  %zero_y = arith.constant dense<0.0> : tensor<12x4xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<12x8xf32>, tensor<8x16xf32>)
                     outs(%zero_h : tensor<12x16xf32>) -> tensor<12x16xf32>
  %relu = arith.maximumf %h, %zero_h : tensor<12x16xf32>
  %y = linalg.matmul ins(%relu, %w2 : tensor<12x16xf32>, tensor<16x4xf32>)
                     outs(%zero_y : tensor<12x4xf32>) -> tensor<12x4xf32>
  return %w1, %w2, %y : tensor<8x16xf32>, tensor<16x4xf32>, tensor<12x4xf32>
}
