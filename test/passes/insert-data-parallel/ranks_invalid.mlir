// RUN: not coll-opt %s --coll-insert-data-parallel=ranks=0 2>&1 | FileCheck %s
// RUN: not coll-opt %s --coll-insert-data-parallel=ranks=99999999999 2>&1 | FileCheck %s

// CHECK: error: cannot run on {{0|99999999999}} ranks; expected 1 to 16777216
func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
