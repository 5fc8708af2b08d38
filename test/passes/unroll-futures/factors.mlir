// RUN: coll-opt %s --coll-unroll-futures --split-input-file --verify-diagnostics | FileCheck %s

coll.mesh @m ["dp" = 2]

// What is carried is awaited before the next start: nothing to do, whatever the bounds are.
// CHECK-LABEL: func.func @awaited_first
// CHECK: scf.for
// CHECK: coll.await
// CHECK: coll.start
// CHECK-NOT: coll.await
// CHECK: scf.yield
func.func @awaited_first(%x: tensor<4xf32>, %peer: index, %n: index) {
  %c1 = arith.constant 1 : index
  %f = coll.start ins(%x, %peer : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  %last = scf.for %i = %c1 to %n step %c1 iter_args(%sent = %f) -> (!coll.future) {
    coll.await %sent : !coll.future
    %next = coll.start ins(%x, %peer : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    scf.yield %next : !coll.future
  }
  coll.await %last : !coll.future
  return
}

// -----

coll.mesh @m ["dp" = 2]

// The next one is started before: two take turns. Two rounds need no loop.
// CHECK-LABEL: func.func @started_first
// CHECK-NOT: scf.for
// CHECK-COUNT-3: coll.start
func.func @started_first(%x: tensor<4xf32>, %peer: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f = coll.start ins(%x, %peer : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%sent = %f) -> (!coll.future) {
    %next = coll.start ins(%x, %peer : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    coll.await %sent : !coll.future
    scf.yield %next : !coll.future
  }
  coll.await %last : !coll.future
  return
}

// -----

coll.mesh @m ["dp" = 2]

// No round runs.
// CHECK-LABEL: func.func @no_round
// CHECK-NOT: scf.for
// CHECK-COUNT-1: coll.start
// CHECK: coll.await
func.func @no_round(%x: tensor<4xf32>, %peer: index) {
  %c1 = arith.constant 1 : index
  %f = coll.start ins(%x, %peer : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  %last = scf.for %i = %c1 to %c1 step %c1 iter_args(%sent = %f) -> (!coll.future) {
    %next = coll.start ins(%x, %peer : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    coll.await %sent : !coll.future
    scf.yield %next : !coll.future
  }
  coll.await %last : !coll.future
  return
}

// -----

coll.mesh @m ["dp" = 2]

func.func @unknown_bounds(%x: tensor<4xf32>, %peer: index, %n: index) {
  %c1 = arith.constant 1 : index
  %f = coll.start ins(%x, %peer : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %p: index):
    coll.send %a to %p over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  // expected-error@+1 {{starts operations before the ones that it carries are awaited; that needs a buffer for each of 2 rounds and so constant bounds}}
  %last = scf.for %i = %c1 to %n step %c1 iter_args(%sent = %f) -> (!coll.future) {
    %next = coll.start ins(%x, %peer : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    coll.await %sent : !coll.future
    scf.yield %next : !coll.future
  }
  coll.await %last : !coll.future
  return
}
