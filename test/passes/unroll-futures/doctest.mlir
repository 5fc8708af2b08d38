// RUN: coll-opt %s --coll-unroll-futures --cse --canonicalize | FileCheck %s

// Two sends are in flight, and each round passes the younger one on to where the older one was. Two
// rounds bring it back there, so that each place has a buffer. Five rounds are two twice, and one.

coll.mesh @m ["dp" = 2]

// CHECK-LABEL: func.func @step
// CHECK: %[[TWO:.+]] = arith.constant 2 : index
// CHECK: %[[LAST:.+]]:2 = scf.for {{.*}} step %[[TWO]] iter_args(%[[OLD:.+]] = %{{.+}}, %[[YOUNG:.+]] = %{{.+}})
// CHECK: coll.await %[[OLD]]
// CHECK: %[[FIRST:.+]] = coll.start
// CHECK: coll.await %[[YOUNG]]
// CHECK: %[[SECOND:.+]] = coll.start
// CHECK: scf.yield %[[FIRST]], %[[SECOND]]
// CHECK: coll.await %[[LAST]]#0
// CHECK: %[[REST:.+]] = coll.start
// CHECK: coll.await %[[LAST]]#1
// CHECK: coll.await %[[REST]]
func.func @step(%x: tensor<4xf32>, %peer: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %f0 = coll.start ins(%x, %peer : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  %f1 = coll.start ins(%x, %peer : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  %last:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%old = %f0, %young = %f1) -> (!coll.future, !coll.future) {
    coll.await %old : !coll.future
    %next = coll.start ins(%x, %peer : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    scf.yield %young, %next : !coll.future, !coll.future
  }
  coll.await %last#0 : !coll.future
  coll.await %last#1 : !coll.future
  return
}
