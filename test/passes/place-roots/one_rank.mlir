// RUN: coll-opt %s --coll-partition | FileCheck %s

// A ring of one rank has no neighbour to send to: the collectives stay as they are.
coll.mesh @mesh ["dp" = 1]

// CHECK-LABEL: func.func @step(
// CHECK: coll.reduce_scatter
// CHECK-NOT: coll.permute
// CHECK: coll.root_update {{.+}} route ring
// CHECK: coll.all_gather
// CHECK-NOT: coll.permute
// CHECK: return
func.func @step(%w: tensor<2x16xf32> {coll.role = "state", coll.sharding = #coll.sharding<@mesh, [[], []]>},
                %g: tensor<2x16xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[], []]>})
    -> tensor<2x16xf32> {
  %sum = coll.reduce_scatter sum %g dim 0 over @mesh["dp"] : tensor<2x16xf32> -> tensor<2x16xf32>
  %0 = coll.root_update grad(%sum : tensor<2x16xf32>) state(%w : tensor<2x16xf32>) forward 1 route ring {
  ^bb0(%ge: f32, %we: f32):
    %next = arith.subf %we, %ge : f32
    coll.yield %next : f32
  }
  %1 = coll.all_gather %0 dim 0 over @mesh["dp"] : tensor<2x16xf32> -> tensor<2x16xf32>
  return %1 : tensor<2x16xf32>
}
