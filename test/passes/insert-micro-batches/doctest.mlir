// RUN: coll-opt %s --coll-insert-micro-batches=count=4 | FileCheck %s
// RUN: coll-opt %s --coll-insert-micro-batches=count=1 | FileCheck %s --check-prefix=ONE
// RUN: not coll-opt %s --coll-insert-micro-batches=count=7 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not coll-opt %s --coll-insert-micro-batches=count=0 2>&1 | FileCheck %s --check-prefix=NONE

// Micro-batches are the innermost blocks of the batch.
// CHECK: coll.mesh @mesh ["dp" = 2, "mb" = 4]
// CHECK: coll.sharding<@mesh, {{\[\["dp", "mb"\], \[\]\]}}>

// One micro-batch is the first of two, and has all rows.
// ONE: coll.mesh @mesh ["dp" = 2, "mb" = 2]
// ONE: coll.sharding<@mesh, {{\[\["mb", "dp"\] unit 6, \[\]\]}}>

// MANY: error: batch argument {{.*}} has 12 rows, which 2 replicas cannot cut into 7 micro-batches each; ask for 6 at most, or pass a larger batch
// NONE: error: a batch is cut into 1 to 65536 micro-batches, not 0
coll.mesh @mesh ["dp" = 2]
func.func @step(%w: tensor<8xf32> {coll.role = "state", coll.sharding = #coll.sharding<@mesh, [[]]>},
                %x: tensor<12x8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp"], []]>})
    -> tensor<8xf32> {
  return %w : tensor<8xf32>
}
