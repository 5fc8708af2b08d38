// RUN: coll-opt %s --coll-propagate --coll-insert-reshards --coll-isolate-micro-batches --coll-partition --coll-loop-micro-batches 2>/dev/null | FileCheck %s

// Each rank has 6 rows and takes 2 at a time. The sum over its rows is carried by the loop; that over
// ranks follows once.
// CHECK: coll.mesh @mesh ["dp" = 2]
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.+]]: tensor<6xf32> {{.*}}coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\] unit 6\]}}>
// CHECK: %[[SUM:.+]] = scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[ACC:.+]] = %{{.+}}) -> (tensor<f32>)
// CHECK: %[[OFFSET:.+]] = arith.muli %[[I]]
// CHECK: %[[ROWS:.+]] = tensor.extract_slice %[[X]][%[[OFFSET]]] [2] [1]
// CHECK: %[[PART:.+]] = linalg.generic {{.*}} ins(%[[ROWS]] : tensor<2xf32>)
// CHECK: %[[NEXT:.+]] = arith.addf %[[ACC]], %[[PART]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: %[[ALL:.+]] = coll.all_reduce sum %[[SUM]] over @mesh["dp"]
// CHECK: return %[[ALL]]
coll.mesh @mesh ["dp" = 2, "mb" = 3]
func.func @step(%x: tensor<12xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp", "mb"]]>}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<12xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
