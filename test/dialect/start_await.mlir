// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @collective
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @collective(%x: tensor<4xf32>) {
  // CHECK: %[[F:.+]] = coll.start ins(%[[X]] : tensor<4xf32>) {
  // CHECK-NEXT: ^{{.+}}(%[[A:.+]]: tensor<4xf32>):
  // CHECK-NEXT: %[[S:.+]] = coll.all_reduce sum %[[A]] over @m["dp"] : tensor<4xf32>
  // CHECK-NEXT: coll.yield %[[S]] : tensor<4xf32>
  // CHECK-NEXT: } : !coll.future<tensor<4xf32>>
  // CHECK-NEXT: %{{.+}} = coll.await %[[F]] : !coll.future<tensor<4xf32>>
  %f = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  %r = coll.await %f : !coll.future<tensor<4xf32>>
  return
}

// CHECK-LABEL: func.func @send_on_stream
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>, %[[P:.+]]: index)
func.func @send_on_stream(%x: tensor<4xf32>, %p: index) {
  // CHECK: %[[F:.+]] = coll.start stream 1 ins(%[[X]], %[[P]] : tensor<4xf32>, index) {
  // CHECK-NEXT: ^{{.+}}(%[[A:.+]]: tensor<4xf32>, %[[B:.+]]: index):
  // CHECK-NEXT: coll.send %[[A]] to %[[B]] over @m["dp"] : tensor<4xf32>
  // CHECK-NEXT: coll.yield
  // CHECK-NEXT: } : !coll.future
  // CHECK-NEXT: coll.await %[[F]] : !coll.future
  %f = coll.start stream 1 ins(%x, %p : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %b: index):
    coll.send %a to %b over @m["dp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  coll.await %f : !coll.future
  return
}

// CHECK-LABEL: func.func @barrier
func.func @barrier() {
  // CHECK: %[[F:.+]] = coll.start {
  // CHECK-NEXT: coll.barrier over @m["dp"]
  // CHECK-NEXT: coll.yield
  // CHECK-NEXT: } : !coll.future
  // CHECK-NEXT: coll.await %[[F]] : !coll.future
  %f = coll.start {
    coll.barrier over @m["dp"]
    coll.yield
  } : !coll.future
  coll.await %f : !coll.future
  return
}

// A loop hands one future on from round to round, and another stays in flight all the time.
// CHECK-LABEL: func.func @carried
func.func @carried(%x: tensor<4xf32>, %p: index, %n: index, %one: index) -> tensor<4xf32> {
  // CHECK: %[[SUM:.+]] = coll.start ins
  %sum = coll.start ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  } : !coll.future<tensor<4xf32>>
  // CHECK: %[[FIRST:.+]] = coll.start ins
  %first = coll.start ins(%x, %p : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %b: index):
    coll.send %a to %b over @m["tp"] : tensor<4xf32>
    coll.yield
  } : !coll.future
  // CHECK: scf.for {{.*}} iter_args(%[[SENT:.+]] = %[[FIRST]], %{{.+}} = %[[SUM]]) -> (!coll.future, !coll.future<tensor<4xf32>>)
  %last:2 = scf.for %i = %one to %n step %one iter_args(%sent = %first, %reduced = %sum)
      -> (!coll.future, !coll.future<tensor<4xf32>>) {
    // CHECK: coll.await %[[SENT]]
    coll.await %sent : !coll.future
    %next = coll.start ins(%x, %p : tensor<4xf32>, index) {
    ^bb0(%a: tensor<4xf32>, %b: index):
      coll.send %a to %b over @m["tp"] : tensor<4xf32>
      coll.yield
    } : !coll.future
    scf.yield %next, %reduced : !coll.future, !coll.future<tensor<4xf32>>
  }
  coll.await %last#0 : !coll.future
  %r = coll.await %last#1 : !coll.future<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @bucket
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<2x3xf32>)
func.func @bucket(%x: tensor<4xf32>, %y: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>) {
  // CHECK: %[[F:.+]] = coll.start ins(%[[X]], %[[Y]] : tensor<4xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: ^{{.+}}(%[[A:.+]]: tensor<4xf32>, %[[B:.+]]: tensor<2x3xf32>):
  // CHECK-NEXT: %[[S:.+]] = coll.reduce sum %[[A]] to 1 over @m["dp"] : tensor<4xf32>
  // CHECK-NEXT: %[[T:.+]] = coll.reduce sum %[[B]] to 1 over @m["dp"] : tensor<2x3xf32>
  // CHECK-NEXT: coll.yield %[[S]], %[[T]] : tensor<4xf32>, tensor<2x3xf32>
  // CHECK-NEXT: } : !coll.future<tensor<4xf32>, tensor<2x3xf32>>
  // CHECK-NEXT: %{{.+}}:2 = coll.await %[[F]]
  %f = coll.start ins(%x, %y : tensor<4xf32>, tensor<2x3xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<2x3xf32>):
    %s = coll.reduce sum %a to 1 over @m["dp"] : tensor<4xf32>
    %t = coll.reduce sum %b to 1 over @m["dp"] : tensor<2x3xf32>
    coll.yield %s, %t : tensor<4xf32>, tensor<2x3xf32>
  } : !coll.future<tensor<4xf32>, tensor<2x3xf32>>
  %r:2 = coll.await %f : !coll.future<tensor<4xf32>, tensor<2x3xf32>>
  return %r#0, %r#1 : tensor<4xf32>, tensor<2x3xf32>
}
