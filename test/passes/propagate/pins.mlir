// RUN: coll-opt %s --coll-propagate | FileCheck %s

coll.mesh @m ["x" = 2, "y" = 2, "z" = 2]

// An open dimension follows what stands before it, and what is written stays as it is.
// CHECK-LABEL: @open
// CHECK: math.tanh %{{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[}}"x"], ["y"]]>]}
// CHECK-NOT: coll.reshard
func.func @open(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["x"], ["y"]]>}) -> tensor<8x4xf32> {
  %0 = math.tanh %x : tensor<8x4xf32>
  %1 = coll.reshard %0 from <@m, [[], ["y"]]> to <@m, [[], ["y"]]>
      {coll.pin = {open_dims = array<i64: 0>, replicated = []}} : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// Axes that are to be replicated, and those that are written elsewhere, do not split it.
// CHECK-LABEL: @replicated
// CHECK: coll.reshard %{{.*}} from <@m, {{\[\[}}"x", "z"], ["y"]]> to <@m, {{\[\[}}"x"], []]> {
// CHECK-SAME: coll.shardings = [#coll.sharding<@m, {{\[\[}}"x"], []]>]
// CHECK-SAME: coll.why = "the sharding that is written here"
func.func @replicated(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["x", "z"], ["y"]]>}) -> tensor<8x4xf32> {
  %1 = coll.reshard %x from <@m, [["x"], []]> to <@m, [["x"], []]>
      {coll.pin = {open_dims = array<i64: 0, 1>, replicated = ["y", "z"]}} : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// A constraint on an argument, without anything open.
// CHECK-LABEL: @closed
// CHECK: coll.reshard %{{.*}} from <@m, {{\[\[}}"x"], []]> to <@m, {{\[\[}}], []]> {coll.shardings
func.func @closed(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["x"], []]>}) -> tensor<8x4xf32> {
  %0 = coll.reshard %x from <@m, [[], []]> to <@m, [[], []]>
      {coll.pin = {open_dims = array<i64>, replicated = []}} : tensor<8x4xf32>
  %1 = math.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
