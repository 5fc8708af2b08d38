// RUN: coll-opt %s --coll-split-ranks | FileCheck %s

// Rank 0 sends what it computes, rank 1 receives it, the others do neither: three
// classes. The condition is gone from each program; peers stay expressions.

coll.mesh @m ["pp" = 4]

func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rank = coll.rank
  %first = arith.cmpi eq, %rank, %c0 : index
  %second = arith.cmpi eq, %rank, %c1 : index
  scf.if %first {
    coll.send %x to %c1 over @m["pp"] : tensor<4xf32>
  }
  %r = scf.if %second -> tensor<4xf32> {
    %y = coll.recv from %c0 over @m["pp"] : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK:      coll.mesh @m
// CHECK:      coll.program @class0 ranks [0] {
// CHECK:        func.func @step(%[[X0:.*]]: tensor<4xf32>)
// CHECK-NOT:      scf.if
// CHECK:          coll.send %[[X0]]
// CHECK-NOT:      coll.recv
// CHECK:          return %[[X0]]
// CHECK:      coll.program @class1 ranks [1] {
// CHECK-NOT:      coll.send
// CHECK:          %[[Y:.*]] = coll.recv
// CHECK-NEXT:     return %[[Y]]
// CHECK:      coll.program @class2 ranks [2, 3] {
// CHECK:        func.func @step(%[[X2:.*]]: tensor<4xf32>)
// CHECK-NOT:      coll.recv
// CHECK:          return %[[X2]]
// CHECK-NOT:  func.func @step
