// RUN: coll-opt %s --coll-place-roots 2>&1 | FileCheck %s

// Two parameters of 40 and 8 elements, 3 rows and 1 row of 16 elements. The larger one has rank 0
// as its root, the other rank 1, so that each block has 3 rows.
// CHECK: remark: root=balanced: 2 parameters with 48 elements; elements per rank: 40, 8 (66 % imbalance); optimizer state: 192 bytes on each rank, 192 in all
coll.mesh @mesh ["dp" = 2]

// The state that only roots have is one argument, and its parts say where it lies.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x10xf32> {coll.name = "a",
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<8xf32> {coll.name = "b",
// CHECK-SAME: %[[HELD:[a-z0-9]+]]: tensor<6x16xf32> {coll.name = "roots0.1", coll.parts = [{name = "ma", offset = 0 : i64, state = 1 : i64, type = tensor<4x10xf32>}, {name = "mb", offset = 48 : i64, state = 3 : i64, type = tensor<8xf32>}], coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\], \[\]\]}}>}
// CHECK-SAME: %[[GA:[a-z0-9]+]]: tensor<4x10xf32>
// CHECK-DAG: %[[FLAT:.+]] = tensor.collapse_shape %[[GA]] {{\[\[0, 1\]\]}} : tensor<4x10xf32> into tensor<40xf32>
// CHECK-DAG: %[[GRADS:.+]] = tensor.concat dim(0) %[[FLAT]], %{{.+}}, %{{.+}}, %{{.+}} : (tensor<40xf32>, tensor<8xf32>, tensor<8xf32>, tensor<40xf32>) -> tensor<96xf32>
// CHECK-DAG: %[[GROWS:.+]] = tensor.expand_shape %[[GRADS]] {{.*}}coll.shardings
// CHECK: %[[NEW:.+]]:2 = coll.root_update grad(%[[GROWS]] : tensor<6x16xf32>) state(%{{.+}}, %[[HELD]] : tensor<6x16xf32>, tensor<6x16xf32>) forward 1 route ring {
// CHECK: %[[ALL:.+]] = coll.reshard %[[NEW]]#0
// CHECK: %[[ROW:.+]] = tensor.collapse_shape %[[ALL]]
// CHECK-DAG: %[[A1:.+]] = tensor.extract_slice %[[ROW]][0] [40] [1]
// CHECK-DAG: %[[B1:.+]] = tensor.extract_slice %[[ROW]][48] [8] [1]
// CHECK: return %{{.+}}, %[[B1]], %[[NEW]]#1 : tensor<4x10xf32>, tensor<8xf32>, tensor<6x16xf32>
func.func @step(%a: tensor<4x10xf32> {coll.role = "state", coll.name = "a", coll.sharding = #coll.sharding<@mesh, [[], []]>},
                %ma: tensor<4x10xf32> {coll.role = "state", coll.name = "ma", coll.sharding = #coll.sharding<@mesh, [[], []]>},
                %b: tensor<8xf32> {coll.role = "state", coll.name = "b", coll.sharding = #coll.sharding<@mesh, [[]]>},
                %mb: tensor<8xf32> {coll.role = "state", coll.name = "mb", coll.sharding = #coll.sharding<@mesh, [[]]>},
                %ga: tensor<4x10xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp"], []]>},
                %gb: tensor<8xf32> {coll.role = "batch"})
    -> (tensor<4x10xf32>, tensor<4x10xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0:2 = coll.root_update grad(%ga : tensor<4x10xf32>) state(%a, %ma : tensor<4x10xf32>, tensor<4x10xf32>) forward 1 root balanced route ring {
  ^bb0(%ge: f32, %we: f32, %me: f32):
    %sum = arith.addf %ge, %me : f32
    %next = arith.subf %we, %sum : f32
    coll.yield %next, %sum : f32, f32
  }
  %1:2 = coll.root_update grad(%gb : tensor<8xf32>) state(%b, %mb : tensor<8xf32>, tensor<8xf32>) forward 1 root balanced route ring {
  ^bb0(%ge: f32, %we: f32, %me: f32):
    %sum = arith.addf %ge, %me : f32
    %next = arith.subf %we, %sum : f32
    coll.yield %next, %sum : f32, f32
  }
  return %0#0, %0#1, %1#0, %1#1 : tensor<4x10xf32>, tensor<4x10xf32>, tensor<8xf32>, tensor<8xf32>
}
