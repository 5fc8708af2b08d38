// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,2]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank r holds [2r, 2r + 1]. Values go round a ring, and each rank adds up what comes by, seven
// times. Loops carry the transfers: of the round before (`carried`), two at a time that change
// places (`two`), with the next one started before the last is awaited (`early`). `straight` is
// without a loop and without anything in flight at its end.

coll.mesh @m ["x" = 4]

#rows = #coll.sharding<@m, [["x"], []]>

func.func private @plus(%a: tensor<1x2xf32>, %b: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %empty = tensor.empty() : tensor<1x2xf32>
  %sum = linalg.add ins(%a, %b : tensor<1x2xf32>, tensor<1x2xf32>) outs(%empty : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %sum : tensor<1x2xf32>
}

// One value from the rank before, while the own one is sent.
func.func private @shift(%x: tensor<1x2xf32>, %next: index, %previous: index) -> tensor<1x2xf32> {
  %s = coll.start ins(%x, %next : tensor<1x2xf32>, index) {
  ^bb0(%a: tensor<1x2xf32>, %p: index):
    coll.send %a to %p over @m["x"] : tensor<1x2xf32>
    coll.yield
  } : !coll.future
  %y = coll.recv from %previous over @m["x"] : tensor<1x2xf32>
  coll.await %s : !coll.future
  return %y : tensor<1x2xf32>
}

func.func @step(
    %x: tensor<1x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>})
    -> (tensor<1x2xf32> {coll.name = "straight", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "carried", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "two", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "early", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant dense<0.0> : tensor<1x2xf32>
  %rank = coll.rank
  %up = arith.addi %rank, %c1 : index
  %next = arith.remui %up, %c4 : index
  %down = arith.addi %rank, %c3 : index
  %previous = arith.remui %down, %c4 : index

  %straight:2 = scf.for %i = %c0 to %c7 step %c1 iter_args(%v = %x, %sum = %zero) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
    %y = func.call @shift(%v, %next, %previous) : (tensor<1x2xf32>, index, index) -> tensor<1x2xf32>
    %more = func.call @plus(%sum, %y) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    scf.yield %y, %more : tensor<1x2xf32>, tensor<1x2xf32>
  }

  // Send and receive of the round before.
  %s0 = coll.start ins(%x, %next : tensor<1x2xf32>, index) {
  ^bb0(%a: tensor<1x2xf32>, %p: index):
    coll.send %a to %p tag 1 over @m["x"] : tensor<1x2xf32>
    coll.yield
  } : !coll.future
  %r0 = coll.start ins(%previous : index) {
  ^bb0(%p: index):
    %a = coll.recv from %p tag 1 over @m["x"] : tensor<1x2xf32>
    coll.yield %a : tensor<1x2xf32>
  } : !coll.future<tensor<1x2xf32>>
  %carried:3 = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %s0, %r = %r0, %sum = %zero)
      -> (!coll.future, !coll.future<tensor<1x2xf32>>, tensor<1x2xf32>) {
    %y = coll.await %r : !coll.future<tensor<1x2xf32>>
    coll.await %s : !coll.future
    %s1 = coll.start ins(%y, %next : tensor<1x2xf32>, index) {
    ^bb0(%a: tensor<1x2xf32>, %p: index):
      coll.send %a to %p tag 1 over @m["x"] : tensor<1x2xf32>
      coll.yield
    } : !coll.future
    %r1 = coll.start ins(%previous : index) {
    ^bb0(%p: index):
      %a = coll.recv from %p tag 1 over @m["x"] : tensor<1x2xf32>
      coll.yield %a : tensor<1x2xf32>
    } : !coll.future<tensor<1x2xf32>>
    %more = func.call @plus(%sum, %y) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    scf.yield %s1, %r1, %more : !coll.future, !coll.future<tensor<1x2xf32>>, tensor<1x2xf32>
  }
  %y6 = coll.await %carried#1 : !coll.future<tensor<1x2xf32>>
  coll.await %carried#0 : !coll.future
  %carried_sum = func.call @plus(%carried#2, %y6) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>

  // Two sends in flight; the older one is awaited.
  %f0 = coll.start ins(%x, %next : tensor<1x2xf32>, index) {
  ^bb0(%a: tensor<1x2xf32>, %p: index):
    coll.send %a to %p tag 2 over @m["x"] : tensor<1x2xf32>
    coll.yield
  } : !coll.future
  %v0 = coll.recv from %previous tag 2 over @m["x"] : tensor<1x2xf32>
  %f1 = coll.start ins(%v0, %next : tensor<1x2xf32>, index) {
  ^bb0(%a: tensor<1x2xf32>, %p: index):
    coll.send %a to %p tag 2 over @m["x"] : tensor<1x2xf32>
    coll.yield
  } : !coll.future
  %two:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%old = %f0, %young = %f1, %sum = %v0)
      -> (!coll.future, !coll.future, tensor<1x2xf32>) {
    %v = coll.recv from %previous tag 2 over @m["x"] : tensor<1x2xf32>
    coll.await %old : !coll.future
    %f = coll.start ins(%v, %next : tensor<1x2xf32>, index) {
    ^bb0(%a: tensor<1x2xf32>, %p: index):
      coll.send %a to %p tag 2 over @m["x"] : tensor<1x2xf32>
      coll.yield
    } : !coll.future
    %more = func.call @plus(%sum, %v) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    scf.yield %young, %f, %more : !coll.future, !coll.future, tensor<1x2xf32>
  }
  %v6 = coll.recv from %previous tag 2 over @m["x"] : tensor<1x2xf32>
  coll.await %two#0 : !coll.future
  coll.await %two#1 : !coll.future
  %two_sum = func.call @plus(%two#2, %v6) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>

  // The receive of the next round is started before that of this one is awaited.
  %e0 = coll.start ins(%previous : index) {
  ^bb0(%p: index):
    %a = coll.recv from %p tag 3 over @m["x"] : tensor<1x2xf32>
    coll.yield %a : tensor<1x2xf32>
  } : !coll.future<tensor<1x2xf32>>
  %g0 = coll.start ins(%x, %next : tensor<1x2xf32>, index) {
  ^bb0(%a: tensor<1x2xf32>, %p: index):
    coll.send %a to %p tag 3 over @m["x"] : tensor<1x2xf32>
    coll.yield
  } : !coll.future
  %early:3 = scf.for %i = %c0 to %c6 step %c1 iter_args(%e = %e0, %g = %g0, %sum = %zero)
      -> (!coll.future<tensor<1x2xf32>>, !coll.future, tensor<1x2xf32>) {
    %e1 = coll.start ins(%previous : index) {
    ^bb0(%p: index):
      %a = coll.recv from %p tag 3 over @m["x"] : tensor<1x2xf32>
      coll.yield %a : tensor<1x2xf32>
    } : !coll.future<tensor<1x2xf32>>
    %y = coll.await %e : !coll.future<tensor<1x2xf32>>
    %g1 = coll.start ins(%y, %next : tensor<1x2xf32>, index) {
    ^bb0(%a: tensor<1x2xf32>, %p: index):
      coll.send %a to %p tag 3 over @m["x"] : tensor<1x2xf32>
      coll.yield
    } : !coll.future
    coll.await %g : !coll.future
    %more = func.call @plus(%sum, %y) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    scf.yield %e1, %g1, %more : !coll.future<tensor<1x2xf32>>, !coll.future, tensor<1x2xf32>
  }
  %w6 = coll.await %early#0 : !coll.future<tensor<1x2xf32>>
  coll.await %early#1 : !coll.future
  %early_sum = func.call @plus(%early#2, %w6) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>

  return %straight#1, %carried_sum, %two_sum, %early_sum
      : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
}

// Twice round is 24 and 32; the eighth value, the own one, is missing.
// CHECK: straight: f32[4, 2] = {{\[\[}}24, 31], [22, 29], [20, 27], [18, 25]]
// CHECK: carried: f32[4, 2] = {{\[\[}}24, 31], [22, 29], [20, 27], [18, 25]]
// CHECK: two: f32[4, 2] = {{\[\[}}24, 31], [22, 29], [20, 27], [18, 25]]
// CHECK: early: f32[4, 2] = {{\[\[}}24, 31], [22, 29], [20, 27], [18, 25]]
