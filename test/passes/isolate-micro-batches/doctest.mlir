// RUN: coll-opt %s --coll-isolate-micro-batches | FileCheck %s

// A sum over ranks and micro-batches is first one over micro-batches, which a rank forms alone.
// CHECK-LABEL: func.func @step(
// CHECK: %[[PARTIAL:.+]] = linalg.generic
// CHECK: %[[OWN:.+]] = coll.reshard %[[PARTIAL]] from <@mesh, [], partial sum ["dp", "mb"]> to <@mesh, [], partial sum ["dp"]>
// CHECK: %[[ALL:.+]] = coll.reshard %[[OWN]] from <@mesh, [], partial sum ["dp"]> to <@mesh, []>
// CHECK: return %[[ALL]]
coll.mesh @mesh ["dp" = 2, "mb" = 3]
func.func @step(%x: tensor<12xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp", "mb"]]>})
    -> (tensor<f32> {coll.sharding = #coll.sharding<@mesh, []>}) {
  %zero = arith.constant {coll.shardings = [#coll.sharding<@mesh, []>]} dense<0.0> : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<12xf32>) outs(%zero : tensor<f32>) attrs = {coll.shardings = [#coll.sharding<@mesh, [], partial sum ["dp", "mb"]>]} {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  %1 = coll.reshard %0 from <@mesh, [], partial sum ["dp", "mb"]> to <@mesh, []> {coll.shardings = [#coll.sharding<@mesh, []>]} : tensor<f32>
  return %1 : tensor<f32>
}
