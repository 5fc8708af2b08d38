// RUN: coll-opt %s --coll-propagate --coll-insert-reshards --coll-partition --canonicalize | FileCheck %s

coll.mesh @m ["dp" = 4]

// Positions count over the whole batch: random bits do not depend on the rank count.
// CHECK-LABEL: @step
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[I:.*]] = coll.axis_index @m["dp"]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[I]], %[[TWO]]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3xi32>)
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[GLOBAL:.*]] = arith.addi %[[ROW]], %[[OFFSET]]
// CHECK: arith.index_cast %[[GLOBAL]]
func.func @step(%x: tensor<8x3xi32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>}) -> tensor<8x3xi32> {
  %empty = tensor.empty() : tensor<8x3xi32>
  %iota = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
                          iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<8x3xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<8x3xi32>
  %r = arith.addi %x, %iota : tensor<8x3xi32>
  return %r : tensor<8x3xi32>
}
