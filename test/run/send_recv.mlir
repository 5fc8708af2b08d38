// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,2]:iota
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank r holds [2r, 2r + 1]. Even ranks send to the next, odd ranks answer with what they had.

coll.mesh @m ["x" = 4]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<1x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>})
    -> (tensor<1x2xf32> {coll.name = "swapped", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rank = coll.rank
  %parity = arith.remui %rank, %c2 : index
  %is_even = arith.cmpi eq, %parity, %c0 : index
  %swapped = scf.if %is_even -> tensor<1x2xf32> {
    %peer = arith.addi %rank, %c1 : index
    coll.send %x to %peer tag 1 over @m["x"] : tensor<1x2xf32>
    %r = coll.recv from %peer tag 2 over @m["x"] : tensor<1x2xf32>
    scf.yield %r : tensor<1x2xf32>
  } else {
    %peer = arith.subi %rank, %c1 : index
    %r = coll.recv from %peer tag 1 over @m["x"] : tensor<1x2xf32>
    coll.send %x to %peer tag 2 over @m["x"] : tensor<1x2xf32>
    scf.yield %r : tensor<1x2xf32>
  }
  return %swapped : tensor<1x2xf32>
}

// CHECK: swapped: f32[4, 2] = {{\[\[}}2, 3], [0, 1], [6, 7], [4, 5]]
