// RUN: coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 strategy=data shard={Dense_*/kernel: [-, tp]},{batch/x: [-, dp+tp]}' | FileCheck %s

// A pattern may name the end of a path, and decides before a strategy does.
// CHECK: func.func @step(
// CHECK-SAME: coll.name = "state['Dense_0']['kernel']", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["tp"\]\]}}>
// CHECK-SAME: coll.name = "state['Dense_0']['bias']", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\]\]}}>
// CHECK-SAME: coll.name = "batch['x']", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["dp", "tp"\]\]}}>
// CHECK-SAME: coll.name = "batch['y']", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\]\]}}>
func.func @step(%w: tensor<8x16xf32> {coll.role = "state", coll.name = "state['Dense_0']['kernel']"},
                %b: tensor<16xf32> {coll.role = "state", coll.name = "state['Dense_0']['bias']"},
                %x: tensor<12x8xf32> {coll.role = "batch", coll.name = "batch['x']"},
                %y: tensor<12xf32> {coll.role = "batch", coll.name = "batch['y']"})
    -> (tensor<8x16xf32>, tensor<16xf32>) {
  return %w, %b : tensor<8x16xf32>, tensor<16xf32>
}
