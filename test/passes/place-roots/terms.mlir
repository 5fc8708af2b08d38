// RUN: coll-opt %s --coll-place-roots 2>/dev/null | FileCheck %s

// Two parameters whose gradients are clipped by their common norm. Each root sums the squares of the
// rows that it has; what all rows give goes to all ranks, and each parameter's share is the sum over
// its rows.
coll.mesh @mesh ["dp" = 2]

// CHECK-LABEL: func.func @step(
// CHECK-DAG: %[[COUNTS:.+]] = arith.constant dense<[16, 16, 8, 8, 0, 0]> : tensor<6xi32>
// CHECK-DAG: %[[ROWS:.+]] = linalg.generic {{.*}} ins(%[[G:.+]], %[[COUNTS]] : tensor<6x16xf32>, tensor<6xi32>)
// CHECK: coll.reshard %[[ROWS]]
// CHECK-DAG: tensor.extract_slice %[[ALL:.+]][0] [3] [1] : tensor<6xf32> to tensor<3xf32>
// CHECK-DAG: tensor.extract_slice %[[ALL]][3] [1] [1] : tensor<6xf32> to tensor<1xf32>
// CHECK: %[[NORM:.+]] = math.sqrt
// CHECK: coll.root_update grad(%[[G]] : tensor<6x16xf32>) state(%{{.+}} : tensor<6x16xf32>) factor(%[[NORM]] : tensor<f32>)
#id1 = affine_map<(i) -> (i)>
#all1 = affine_map<(i) -> ()>
#id2 = affine_map<(i, j) -> (i, j)>
#all2 = affine_map<(i, j) -> ()>
func.func @step(%a: tensor<4x10xf32> {coll.role = "state", coll.name = "a", coll.sharding = #coll.sharding<@mesh, [[], []]>},
                %b: tensor<8xf32> {coll.role = "state", coll.name = "b", coll.sharding = #coll.sharding<@mesh, [[]]>},
                %x: tensor<2x4xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp"], []]>},
                %ga: tensor<4x10xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[], []]>},
                %gb: tensor<8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[]]>})
    -> (tensor<4x10xf32>, tensor<8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sa = arith.mulf %ga, %ga : tensor<4x10xf32>
  %na = linalg.generic {indexing_maps = [#id2, #all2], iterator_types = ["reduction", "reduction"]}
      ins(%sa : tensor<4x10xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  %sb = arith.mulf %gb, %gb : tensor<8xf32>
  %nb = linalg.generic {indexing_maps = [#id1, #all1], iterator_types = ["reduction"]}
      ins(%sb : tensor<8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  %n = arith.addf %na, %nb : tensor<f32>
  %norm = math.sqrt %n : tensor<f32>
  %0 = coll.root_update grad(%ga : tensor<4x10xf32>) state(%a : tensor<4x10xf32>) factor(%norm : tensor<f32>) forward 1 root balanced {
  ^bb0(%ge: f32, %we: f32, %f: f32):
    %scaled = arith.divf %ge, %f : f32
    %next = arith.subf %we, %scaled : f32
    coll.yield %next : f32
  }
  %1 = coll.root_update grad(%gb : tensor<8xf32>) state(%b : tensor<8xf32>) factor(%norm : tensor<f32>) forward 1 root balanced {
  ^bb0(%ge: f32, %we: f32, %f: f32):
    %scaled = arith.divf %ge, %f : f32
    %next = arith.subf %we, %scaled : f32
    coll.yield %next : f32
  }
  return %0, %1 : tensor<4x10xf32>, tensor<8xf32>
}
