// RUN: coll-opt %s --coll-insert-data-parallel=ranks=4 | FileCheck %s

// CHECK: coll.mesh @mesh ["dp" = 4]

// State comes from rank 0.
// CHECK-LABEL: func.func @init(
// CHECK-SAME: %[[W:.*]]: tensor<3x2xf32> {coll.name = "w", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \[\]\]}}>}
// CHECK: coll.init over @mesh["dp"]
// CHECK: %[[R:.*]] = coll.broadcast %[[W]] from 0 over @mesh["dp"]
// CHECK: return %[[R]]

// The batch is split on dimension 0; state is whole on every rank.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: tensor<3x2xf32> {coll.name = "w", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \[\]\]}}>}
// CHECK-SAME: tensor<8x3xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\], \[\]\]}}>}
func.func @step(%w: tensor<3x2xf32> {coll.role = "state", coll.name = "w"},
                %x: tensor<8x3xf32> {coll.role = "batch"}) -> tensor<3x2xf32> {
  return %w : tensor<3x2xf32>
}
