// RUN: coll-run %s --check | FileCheck %s
// RUN: coll-opt %s --coll-propagate | FileCheck %s --check-prefix=SPLIT
// REQUIRES: coll-run

// A window over what is padded, spread to every second place, and padded again, as the gradient of a
// strided convolution is: each rank has the rows that its part of the result reads, with all columns.
// And parts of two tensors, one behind the other: each rank has the rows of both that its part holds.

// CHECK: y 0 {{.*}} ok
// CHECK-NEXT: z 0 {{.*}} ok
// CHECK-NEXT: 3 of 3 within tolerance
// SPLIT: coll.window
// SPLIT: coll.shardings = [#coll.sharding<@m, {{\[\["sp"\], \[\]\]}}>]
// SPLIT: coll.window
// SPLIT: tensor.concat
// SPLIT: coll.shardings = [#coll.sharding<@m, {{\[\["sp"\], \[\]\]}}>]
coll.mesh @m ["sp" = 4]
func.func @step(
    %w: tensor<3xf32> {coll.name = "w", coll.role = "state", coll.sharding = #coll.sharding<@m, [[]]>},
    %x: tensor<16x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #coll.sharding<@m, [["sp"], []]>})
    -> (tensor<3xf32>, tensor<36x11xf32> {coll.name = "y"}, tensor<24x2xf32> {coll.name = "z"}) {
  %seven = arith.constant 7.0 : f32
  %sevens = arith.constant dense<7.0> : tensor<38x11xf32>
  %zeros = arith.constant dense<0.0> : tensor<36x11xf32>
  %padded = tensor.pad %x low[1, 1] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %seven : f32
  } : tensor<16x2xf32> to tensor<18x5xf32>
  %spread = tensor.insert_slice %padded into %sevens[1, 1] [18, 5] [2, 2] : tensor<18x5xf32> into tensor<38x11xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(o, q, k) -> (o + k, q)>, affine_map<(o, q, k) -> (k)>,
                                        affine_map<(o, q, k) -> (o, q)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%spread, %w : tensor<38x11xf32>, tensor<3xf32>) outs(%zeros : tensor<36x11xf32>) {
  ^bb0(%in: f32, %weight: f32, %out: f32):
    %p = arith.mulf %in, %weight : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<36x11xf32>
  %squares = arith.mulf %x, %x : tensor<16x2xf32>
  %first = tensor.extract_slice %x[3, 0] [12, 2] [1, 1] : tensor<16x2xf32> to tensor<12x2xf32>
  %second = tensor.extract_slice %squares[1, 0] [12, 2] [1, 1] : tensor<16x2xf32> to tensor<12x2xf32>
  %z = tensor.concat dim(0) %first, %second : (tensor<12x2xf32>, tensor<12x2xf32>) -> tensor<24x2xf32>
  return %w, %y, %z : tensor<3xf32>, tensor<36x11xf32>, tensor<24x2xf32>
}
