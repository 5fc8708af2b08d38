// RUN: coll-opt %s --coll-propagate --coll-insert-reshards | FileCheck %s

// What a maximum begins with cannot be a sum's contributions: they are summed first.

coll.mesh @m ["dp" = 2]

// CHECK-LABEL: func.func @step
// CHECK: %[[SUMS:.*]] = coll.accumulate
// CHECK: %[[WHOLE:.*]] = coll.reshard %[[SUMS]] from <@m, {{\[\[\]\]}}, partial sum ["dp"]> to <@m, {{\[\[\]\]}}>
// CHECK: %[[PART:.*]] = coll.reshard %[[WHOLE]] from <@m, {{\[\[\]\]}}> to <@m, {{\[\[\]\]}}, partial max ["dp"]>
// CHECK: coll.accumulate %{{.*}} into %[[PART]]
func.func @step(%x: tensor<4xi32> {coll.sharding = #coll.sharding<@m, [[]]>},
                %i: tensor<6x1xi32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                %u: tensor<6xi32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) -> tensor<4xi32> {
  %s = coll.accumulate %u into %x[%i] inserted_dims [0] index_map [0] {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    coll.yield %c : i32
  } : tensor<6xi32>, tensor<4xi32>, tensor<6x1xi32>
  %m = coll.accumulate %u into %s[%i] inserted_dims [0] index_map [0] {
  ^bb0(%a: i32, %b: i32):
    %c = arith.maxsi %a, %b : i32
    coll.yield %c : i32
  } : tensor<6xi32>, tensor<4xi32>, tensor<6x1xi32>
  return %m : tensor<4xi32>
}
