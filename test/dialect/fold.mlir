// RUN: coll-opt %s --canonicalize | FileCheck %s

coll.mesh @m ["dp" = 4, "one" = 1]

// CHECK-LABEL: func.func @collectives_of_one_rank
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @collectives_of_one_rank(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = coll.all_reduce avg %x over @m["one"] : tensor<4xf32>
  %1 = coll.reduce sum %0 to 0 over @m["one"] : tensor<4xf32>
  %2 = coll.broadcast %1 from 0 over [[3]] : tensor<4xf32>
  %3 = coll.all_gather %2 dim 0 over @m["one"] : tensor<4xf32> -> tensor<4xf32>
  %4 = coll.gather %3 dim 0 to 0 over @m["one"] : tensor<4xf32> -> tensor<4xf32>
  %5 = coll.scatter %4 dim 0 from 0 over @m["one"] : tensor<4xf32> -> tensor<4xf32>
  %6 = coll.reduce_scatter sum %5 dim 0 over @m["one"] : tensor<4xf32> -> tensor<4xf32>
  %7 = coll.all_to_all %6 split 0 concat 0 over @m["one"] : tensor<4xf32> -> tensor<4xf32>
  %8 = coll.permute %7 pairs [[0, 0]] over @m["one"] : tensor<4xf32>
  return %8 : tensor<4xf32>
}

// CHECK-LABEL: func.func @collectives_of_more_ranks_stay
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @collectives_of_more_ranks_stay(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.+]] = coll.all_reduce sum %[[X]] over @m["dp", "one"]
  // CHECK-NEXT: return %[[R]]
  %0 = coll.all_reduce sum %x over @m["dp", "one"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A rank that is no target gets zero.
// CHECK-LABEL: func.func @permute_without_pairs_stays
func.func @permute_without_pairs_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: coll.permute
  %0 = coll.permute %x pairs [] over @m["one"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @operation_in_flight_stays
func.func @operation_in_flight_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: coll.start
  // CHECK: coll.all_reduce
  %q = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over @m["one"] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  %r = coll.await %q : !coll.future<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @coordinate_along_axes_of_one_rank
func.func @coordinate_along_axes_of_one_rank() -> index {
  // CHECK-NEXT: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-NEXT: return %[[C0]]
  %0 = coll.axis_index @m["one"]
  return %0 : index
}

// CHECK-LABEL: func.func @position_in_group_of_one_rank
func.func @position_in_group_of_one_rank() -> (index, index) {
  // CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
  // CHECK: return %[[C0]], %[[C1]]
  %0, %1 = coll.group over @m["one"]
  return %0, %1 : index, index
}

// CHECK-LABEL: func.func @reshard_to_itself
// CHECK-SAME: (%[[X:.+]]: tensor<8xf32>)
func.func @reshard_to_itself(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = coll.reshard %x from <@m, [["dp"]]> to <@m, [["dp"]]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @reshard_there_and_back
// CHECK-SAME: (%[[X:.+]]: tensor<8xf32>)
func.func @reshard_there_and_back(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = coll.reshard %x from <@m, [["dp"]]> to <@m, [[]]> : tensor<8xf32>
  %1 = coll.reshard %0 from <@m, [[]]> to <@m, [["dp"]]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @reshard_of_reshard
// CHECK-SAME: (%[[X:.+]]: tensor<8xf32>)
func.func @reshard_of_reshard(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[R:.+]] = coll.reshard %[[X]] from <@m, {{\[\[}}]], partial sum ["dp"]> to <@m, {{\[\[}}"dp"]]> {coll.why = "b"}
  // CHECK-NEXT: return %[[R]]
  %0 = coll.reshard %x from <@m, [[]], partial sum ["dp"]> to <@m, [[]]> {coll.why = "a"} : tensor<8xf32>
  %1 = coll.reshard %0 from <@m, [[]]> to <@m, [["dp"]]> {coll.why = "b"} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @reshard_between_different_partials_stays
func.func @reshard_between_different_partials_stays(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-COUNT-2: coll.reshard
  %0 = coll.reshard %x from <@m, [[]], partial sum ["dp"]> to <@m, [[]]> : tensor<8xf32>
  %1 = coll.reshard %0 from <@m, [[]]> to <@m, [[]], partial max ["dp"]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @reshard_of_a_value_with_other_uses_stays
func.func @reshard_of_a_value_with_other_uses_stays(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-COUNT-2: coll.reshard
  %0 = coll.reshard %x from <@m, [["dp"]]> to <@m, [[]]> : tensor<8xf32>
  %1 = coll.reshard %0 from <@m, [[]]> to <@m, [["dp", "one"]]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
