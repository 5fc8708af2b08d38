// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func private @shardings
// CHECK-SAME: a = #coll.sharding<@m, {{\[\[}}"dp"], []]>
// CHECK-SAME: b = #coll.sharding<@m, {{\[\[}}"dp", "tp"] unit 32, []]>
// CHECK-SAME: c = #coll.sharding<@m, {{\[\[}}], []], partial max ["dp"]>
// CHECK-SAME: d = #coll.sharding<@m, []>
// CHECK-SAME: e = #coll.sharding<@m, []>
func.func private @shardings() attributes {
  a = #coll.sharding<@m, [["dp"], []]>,
  b = #coll.sharding<@m, [["dp", "tp"] unit 32, []]>,
  c = #coll.sharding<@m, [[], []], partial max ["dp"]>,
  d = #coll.sharding<@m, []>,
  e = #coll.sharding<@m, [], partial max []>}

// CHECK-LABEL: func.func private @groups
// CHECK-SAME: a = #coll.group<@m["dp"]>
// CHECK-SAME: b = #coll.group<{{\[\[}}0, 1], [2, 3]]>
// CHECK-SAME: c = #coll.dim<["dp"] unit 3>
// CHECK-SAME: d = #coll.dim<[]>
// CHECK-SAME: e = #coll<reduction umax>
// CHECK-SAME: f = #coll<order rank>
// CHECK-SAME: g = !coll.future<tensor<4xf32>>
func.func private @groups() attributes {
  a = #coll.group<@m["dp"]>,
  b = #coll.group<[[0, 1], [2, 3]]>,
  c = #coll.dim<["dp"] unit 3>,
  d = #coll.dim<[]>,
  e = #coll<reduction umax>,
  f = #coll<order rank>,
  g = !coll.future<tensor<4xf32>>}

// CHECK-LABEL: func.func @boundary
// CHECK-SAME: tensor<2x4xf32> {coll.global_type = tensor<8x4xf32>, coll.name = "w", coll.role = "state", coll.sharding = #coll.sharding<@m, {{\[\[}}"dp"], []]>}
// CHECK-SAME: tensor<i32> {coll.role = "batch"}
// CHECK-SAME: -> (tensor<2x4xf32> {coll.name = "w"})
func.func @boundary(
    %w: tensor<2x4xf32> {coll.role = "state", coll.name = "w", coll.global_type = tensor<8x4xf32>,
                         coll.sharding = #coll.sharding<@m, [["dp"], []]>},
    %x: tensor<i32> {coll.role = "batch"}) -> (tensor<2x4xf32> {coll.name = "w"}) {
  // CHECK: arith.negf %{{.+}} {coll.shardings = [#coll.sharding<@m, {{\[\[}}"dp"], []]>]}
  %0 = arith.negf %w {coll.shardings = [#coll.sharding<@m, [["dp"], []]>]} : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
