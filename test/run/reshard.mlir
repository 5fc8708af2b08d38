// REQUIRES: coll-run
// RUN: coll-run %s --check --steps=3 | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --check --steps=3 | FileCheck %s %}

// A reshard written by hand is kept: from there on, the product is split over "tp".

coll.mesh @m ["dp" = 2, "tp" = 2]
func.func @step(
    %w: tensor<8x4xf32> {coll.role = "state", coll.name = "w", coll.sharding = #coll.sharding<@m, [[], []]>},
    %x: tensor<12x8xf32> {coll.role = "batch", coll.name = "x", coll.sharding = #coll.sharding<@m, [["dp"], []]>})
    -> (tensor<8x4xf32> {coll.name = "w"}, tensor<12x4xf32> {coll.name = "y"}) {
  %z = arith.constant dense<0.0> : tensor<12x4xf32>
  %zw = arith.constant dense<0.0> : tensor<8x4xf32>
  %x2 = coll.reshard %x from <@m, [["dp"], []]> to <@m, [[], ["tp"]]> : tensor<12x8xf32>
  %y = linalg.matmul ins(%x2, %w : tensor<12x8xf32>, tensor<8x4xf32>) outs(%z : tensor<12x4xf32>) -> tensor<12x4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i,j,b) -> (b,i)>, affine_map<(i,j,b) -> (b,j)>, affine_map<(i,j,b) -> (i,j)>], iterator_types = ["parallel","parallel","reduction"]} ins(%x, %y : tensor<12x8xf32>, tensor<12x4xf32>) outs(%zw : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  %w2 = arith.addf %w, %g : tensor<8x4xf32>
  return %w2, %y : tensor<8x4xf32>, tensor<12x4xf32>
}

// CHECK: 4 ranks, 3 steps:
// CHECK: 2 of 2 within tolerance
