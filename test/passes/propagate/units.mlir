// RUN: coll-opt %s --coll-propagate | FileCheck %s

// Rows are split over "mb" and "tp" in blocks of four; the columns of the product take "tp". What is left of the rows
// are blocks of eight, which hold whole blocks of four: the ranks that differ in "tp" gather, and no row changes its "mb".

coll.mesh @mesh ["mb" = 2, "tp" = 2]
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@mesh, [["mb", "tp"] unit 4, []]>},
                %w: tensor<4x512xf32> {coll.sharding = #coll.sharding<@mesh, [[], ["tp"]]>}) -> tensor<8x512xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x512xf32>
  // CHECK: linalg.matmul {{.*}}coll.shardings = [#coll.sharding<@mesh, {{\[\["mb"\] unit 8, \["tp"\]\]}}>]
  %y = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x512xf32>) outs(%zero : tensor<8x512xf32>) -> tensor<8x512xf32>
  return %y : tensor<8x512xf32>
}
