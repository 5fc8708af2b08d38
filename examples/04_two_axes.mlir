// Data and tensor parallelism, by annotation. The mesh has two axes; the batch is split over "dp",
// and the hidden layer's weights over "tp": the first matrix by columns, the second by rows.
//
//   coll-run examples/04_two_axes.mlir --check
//
// The compiler propagates these shardings through the step. The hidden layer never
// leaves its rank; only the second product is partial over "tp", and is summed there.

coll.mesh @m ["dp" = 2, "tp" = 2]

func.func @step(
    %w1: tensor<8x16xf32> {coll.role = "state", coll.name = "w1", coll.sharding = #coll.sharding<@m, [[], ["tp"]]>},
    %w2: tensor<16x4xf32> {coll.role = "state", coll.name = "w2", coll.sharding = #coll.sharding<@m, [["tp"], []]>},
    %x: tensor<12x8xf32> {coll.role = "batch", coll.name = "x", coll.sharding = #coll.sharding<@m, [["dp"], []]>})
    -> (tensor<8x16xf32> {coll.name = "w1", coll.sharding = #coll.sharding<@m, [[], ["tp"]]>},
        tensor<16x4xf32> {coll.name = "w2", coll.sharding = #coll.sharding<@m, [["tp"], []]>},
        tensor<12x4xf32> {coll.name = "y", coll.sharding = #coll.sharding<@m, [["dp"], []]>}) {
  %zero_h = arith.constant dense<0.0> : tensor<12x16xf32>
  %zero_y = arith.constant dense<0.0> : tensor<12x4xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<12x8xf32>, tensor<8x16xf32>)
                     outs(%zero_h : tensor<12x16xf32>) -> tensor<12x16xf32>
  %relu = arith.maximumf %h, %zero_h : tensor<12x16xf32>
  %y = linalg.matmul ins(%relu, %w2 : tensor<12x16xf32>, tensor<16x4xf32>)
                     outs(%zero_y : tensor<12x4xf32>) -> tensor<12x4xf32>
  return %w1, %w2, %y : tensor<8x16xf32>, tensor<16x4xf32>, tensor<12x4xf32>
}

// CHECK: 4 ranks, 1 step
// CHECK: 3 of 3 within tolerance
