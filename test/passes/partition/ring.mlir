// RUN: coll-opt %s --coll-place-roots --coll-propagate --coll-insert-reshards --coll-partition 2>/dev/null | FileCheck %s

// A root update whose gradient is a sum over 3 ranks: n - 1 times from neighbour to neighbour there,
// and as often back. No rank is named; the text is the same for all.
coll.mesh @mesh ["dp" = 3]

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[HELD:[a-z0-9]+]]: tensor<1x16xf32>
// CHECK-NOT: coll.reduce_scatter
// CHECK: coll.axis_index @mesh["dp"]
// CHECK: %[[SUM:.+]] = scf.for %{{.+}} = %{{.+}} to %[[TWO:.+]] step %{{.+}} iter_args(%[[ACC:.+]] = %{{.+}}) -> (tensor<{{.+}}>)
// CHECK: %[[ARRIVED:.+]] = coll.permute %[[ACC]] shift 1 wraps over @mesh["dp"]
// CHECK: %[[OWN:.+]] = tensor.extract_slice
// CHECK: %[[NEXT:.+]] = arith.addf %[[ARRIVED]], %[[OWN]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: %[[NEW:.+]]:2 = coll.root_update grad(%{{.+}} : tensor<1x16xf32>) state(%{{.+}}, %[[HELD]] : tensor<1x16xf32>, tensor<1x16xf32>) forward 1 route ring
// CHECK: scf.for {{.*}} iter_args(%[[BLOCK:.+]] = %{{.+}}, %[[ALL:.+]] = %{{.+}})
// CHECK: %[[GOT:.+]] = coll.permute %[[BLOCK]] shift 1 wraps over @mesh["dp"] {coll.why = "updated parameters from their roots"}
// CHECK: %[[FILLED:.+]] = tensor.insert_slice %[[GOT]] into %[[ALL]]
// CHECK: scf.yield %[[GOT]], %[[FILLED]]
// CHECK-NOT: coll.all_gather
func.func @step(%w: tensor<3x4xf32> {coll.role = "state", coll.name = "w", coll.sharding = #coll.sharding<@mesh, [[], []]>},
                %m: tensor<3x4xf32> {coll.role = "state", coll.name = "m", coll.sharding = #coll.sharding<@mesh, [[], []]>},
                %xt: tensor<3x6xf32> {coll.role = "state", coll.sharding = #coll.sharding<@mesh, [[], ["dp"]]>},
                %dy: tensor<6x4xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp"], []]>})
    -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x6xf32>) {
  %zero = arith.constant dense<0.0> : tensor<3x4xf32>
  %g = linalg.matmul ins(%xt, %dy : tensor<3x6xf32>, tensor<6x4xf32>) outs(%zero : tensor<3x4xf32>) -> tensor<3x4xf32>
  %0:2 = coll.root_update grad(%g : tensor<3x4xf32>) state(%w, %m : tensor<3x4xf32>, tensor<3x4xf32>) forward 1 root balanced route ring {
  ^bb0(%ge: f32, %we: f32, %me: f32):
    %sum = arith.addf %ge, %me : f32
    %next = arith.subf %we, %sum : f32
    coll.yield %next, %sum : f32, f32
  }
  return %0#0, %0#1, %xt : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x6xf32>
}
