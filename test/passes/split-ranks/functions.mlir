// RUN: coll-opt %s --coll-split-ranks --split-input-file | FileCheck %s

// What the entries call goes into the programs that still call it.

// CHECK:       coll.program @class0 ranks [0] {
// CHECK:         func.func @step
// CHECK:           call @talk
// CHECK:         func.func private @talk
// CHECK-NOT:       scf.if
// CHECK:           coll.send
// CHECK:       coll.program @class1 ranks [1] {
// CHECK:         func.func @step
// CHECK:           call @talk
// CHECK:         func.func private @talk
// CHECK:           coll.recv
// CHECK:       coll.program @class2 ranks [2] {
// CHECK:         func.func @step
// CHECK-NOT:     @talk
// CHECK-NOT:   func.func private @unused
func.func @step(%x: tensor<2xf32>) {
  %c2 = arith.constant 2 : index
  %rank = coll.rank
  %talks = arith.cmpi slt, %rank, %c2 : index
  scf.if %talks {
    func.call @talk(%x) : (tensor<2xf32>) -> ()
  }
  coll.barrier over [[0, 1, 2]]
  return
}
func.func private @talk(%x: tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rank = coll.rank
  %sends = arith.cmpi eq, %rank, %c0 : index
  scf.if %sends {
    coll.send %x to %c1 over [[0, 1]] : tensor<2xf32>
  } else {
    %y = coll.recv from %c0 over [[0, 1]] : tensor<2xf32>
  }
  return
}
func.func private @unused() {
  return
}
