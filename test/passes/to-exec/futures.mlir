// RUN: coll-opt %s --coll-to-exec --coll-verify-exec --split-input-file --verify-diagnostics | FileCheck %s

// What is carried has a place of its own from its start to its await, in the loop and behind it.
// The received value is read after the next receive has been started, so it is copied away; the
// value that is sent is needed no more and is made in its place.

coll.mesh @m ["dp" = 2]

// CHECK: module @class0
// CHECK: %[[FLIGHT:.+]] = exec.view %arena[[[AT:[0-9]+]] for 16]
// CHECK: exec.start writes(%{{.+}}) scalars
// CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.+]] = %{{.+}}) -> (!exec.request)
// CHECK: exec.wait %[[CARRIED]] writes(%[[HERE:.+]])
// CHECK: exec.copy %[[HERE]] to %[[VALUE:.+]]
// CHECK: %[[NEXT:.+]] = exec.start writes
// CHECK: exec.communicate reads(%[[VALUE]])
// CHECK: scf.yield %[[NEXT]] : !exec.request
// CHECK: exec.wait
coll.program @class0 ranks [0, 1] {
  func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %f = coll.start ins(%c1 : index) {
    ^bb0(%p: index):
      %a = coll.recv from %p over @m["dp"] : tensor<4xf32>
      coll.yield %a : tensor<4xf32>
    } : !coll.future<tensor<4xf32>>
    %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%r = %f) -> (!coll.future<tensor<4xf32>>) {
      %y = coll.await %r : !coll.future<tensor<4xf32>>
      %next = coll.start ins(%c1 : index) {
      ^bb0(%p: index):
        %a = coll.recv from %p over @m["dp"] : tensor<4xf32>
        coll.yield %a : tensor<4xf32>
      } : !coll.future<tensor<4xf32>>
      %s = coll.all_reduce sum %y over @m["dp"] : tensor<4xf32>
      scf.yield %next : !coll.future<tensor<4xf32>>
    }
    %y = coll.await %last : !coll.future<tensor<4xf32>>
    return %y : tensor<4xf32>
  }
}

// -----

// Two starts of different sizes cannot take turns in one place.

coll.mesh @m ["dp" = 2]
coll.program @class0 ranks [0, 1] {
  func.func @step(%x: tensor<4xf32> {coll.role = "batch"}, %y: tensor<8xf32> {coll.role = "batch"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    // expected-note@below {{is started here}}
    %f = coll.start ins(%x, %c1 : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    // expected-error@below {{carries operations in flight that read tensors of different sizes; carry each in a future of its own}}
    %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%r = %f) -> (!coll.future) {
      coll.await %r : !coll.future
      // expected-note@below {{another one here}}
      %next = coll.start ins(%y, %c1 : tensor<8xf32>, index) {
      ^bb0(%a: tensor<8xf32>, %p: index):
        coll.send %a to %p over @m["dp"] : tensor<8xf32>
        coll.yield
      } : !coll.future
      scf.yield %next : !coll.future
    }
    coll.await %last : !coll.future
    return
  }
}

// -----

// Without coll-unroll-futures the younger one would have to be moved.

coll.mesh @m ["dp" = 2]
coll.program @class0 ranks [0, 1] {
  func.func @step(%x: tensor<4xf32> {coll.role = "batch"}, %y: tensor<4xf32> {coll.role = "batch"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %f = coll.start ins(%x, %c1 : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %p: index):
      coll.send %a to %p over @m["dp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%r = %f) -> (!coll.future) {
      // expected-note@below {{it is started here}}
      %next = coll.start ins(%y, %c1 : tensor<4xf32>, index) {
      ^bb0(%a: tensor<4xf32>, %p: index):
        coll.send %a to %p over @m["dp"] : tensor<4xf32>
        coll.yield
      } : !coll.future
      coll.await %r : !coll.future
      // expected-error@below {{is carried to another place while the one that is carried there is not awaited yet}}
      scf.yield %next : !coll.future
    }
    coll.await %last : !coll.future
    return
  }
}
