// RUN: coll-opt %s --coll-split-ranks --split-input-file | FileCheck %s

// Nothing depends on the rank.

// CHECK-LABEL: coll.mesh @m
// CHECK:       coll.program @class0 ranks [0 to 3] {
// CHECK:         func.func @init
// CHECK:         func.func @step(%{{.*}}: tensor<4xf32> {coll.role = "state"}) -> (tensor<4xf32> {coll.name = "w"})
// CHECK:       coll.all_reduce
// CHECK-NOT:   coll.program
coll.mesh @m ["dp" = 4]
func.func @init(%x: tensor<4xf32>) -> tensor<4xf32> {
  coll.init over @m["dp"]
  %r = coll.broadcast %x from 0 over @m["dp"] : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @step(%x: tensor<4xf32> {coll.role = "state"}) -> (tensor<4xf32> {coll.name = "w"}) {
  %r = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A condition on the rank that guards no communication is data.

// CHECK-LABEL: coll.mesh @masked
// CHECK:       coll.program @class0 ranks [0 to 7] {
// CHECK:         scf.if
// CHECK-NOT:   coll.program
coll.mesh @masked ["dp" = 4, "tp" = 2]
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %i = coll.axis_index @masked["tp"]
  %first = arith.cmpi eq, %i, %c0 : index
  %y = scf.if %first -> tensor<4xf32> {
    %z = arith.addf %x, %x : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %r = coll.all_reduce sum %y over @masked["dp", "tp"] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A condition on data stays, whatever it guards.

// CHECK-LABEL: coll.mesh @data
// CHECK:       coll.program @class0 ranks [0, 1] {
// CHECK:         scf.if
// CHECK-NOT:   coll.program
coll.mesh @data ["dp" = 2]
func.func @step(%x: tensor<4xf32>, %c: i1) {
  scf.if %c {
    coll.barrier over @data["dp"]
  }
  return
}
