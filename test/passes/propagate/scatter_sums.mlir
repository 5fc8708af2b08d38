// RUN: coll-opt %s --coll-propagate --coll-insert-reshards --coll-partition | FileCheck %s

// The norm of a gradient needs it summed, the update takes a part of it: both work on the part. The norm's own sum is
// of one element.

coll.mesh @m ["dp" = 4]

// CHECK-LABEL: func.func @step
// CHECK: %[[G:.+]] = coll.reduce_scatter sum %{{.+}} dim 0 over @m["dp"] {{.*}} : tensor<8x16xf32> -> tensor<2x16xf32>
// CHECK: arith.mulf %[[G]], %[[G]] : tensor<2x16xf32>
// CHECK: coll.all_reduce sum %{{.+}} over @m["dp"] {{.*}} : tensor<f32>
// CHECK-NOT: coll.all_reduce
func.func @step(%w: tensor<8x16xf32> {coll.role = "state", coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                %x: tensor<32x8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                %y: tensor<32x16xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@m, [["dp"], []]>})
    -> tensor<8x16xf32> {
  %zeros = arith.constant dense<0.0> : tensor<8x16xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j, b) -> (b, i)>, affine_map<(i, j, b) -> (b, j)>,
                                        affine_map<(i, j, b) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<32x8xf32>, tensor<32x16xf32>) outs(%zeros : tensor<8x16xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %square = arith.mulf %g, %g : tensor<8x16xf32>
  %sum = linalg.reduce { arith.addf } ins(%square : tensor<8x16xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1]
  %norm = math.rsqrt %sum : tensor<f32>
  %empty = tensor.empty() : tensor<8x16xf32>
  %scale = linalg.broadcast ins(%norm : tensor<f32>) outs(%empty : tensor<8x16xf32>) dimensions = [0, 1]
  %clipped = arith.mulf %g, %scale : tensor<8x16xf32>
  %new = arith.subf %w, %clipped : tensor<8x16xf32>
  return %new : tensor<8x16xf32>
}
