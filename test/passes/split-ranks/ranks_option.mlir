// RUN: coll-opt %s --coll-split-ranks=ranks=16384 | FileCheck %s

// CHECK: coll.program @class0 ranks [0] {
// CHECK: coll.program @class1 ranks [1 to 16383] {
// CHECK-NOT: coll.program
func.func @step(%x: tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    coll.barrier over [[0]]
  }
  return
}
