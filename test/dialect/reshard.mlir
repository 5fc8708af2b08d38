// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @split_to_whole
// CHECK-SAME: (%[[X:.+]]: tensor<8x4xf32>)
func.func @split_to_whole(%x: tensor<8x4xf32>) {
  // CHECK: %[[R:.+]] = coll.reshard %[[X]] from <@m, {{\[\[}}"dp"], []]> to <@m, {{\[\[}}], []]> : tensor<8x4xf32>
  %r = coll.reshard %x from <@m, [["dp"], []]> to <@m, [[], []]> : tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @partial_to_split
// CHECK-SAME: (%[[X:.+]]: tensor<8x4xf32>)
func.func @partial_to_split(%x: tensor<8x4xf32>) {
  // CHECK: %[[R:.+]] = coll.reshard %[[X]] from <@m, {{\[\[}}], []], partial sum ["dp"]> to <@m, {{\[\[}}"dp"], []]> : tensor<8x4xf32>
  %r = coll.reshard %x from <@m, [[], []], partial sum ["dp"]> to <@m, [["dp"], []]> : tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @units
// CHECK-SAME: (%[[X:.+]]: tensor<8x4xf32>)
func.func @units(%x: tensor<8x4xf32>) {
  // CHECK: %[[R:.+]] = coll.reshard %[[X]] from <@m, {{\[\[}}"dp", "tp"] unit 2, []]> to <@m, {{\[\[}}"dp"], ["tp"]]> {coll.why = "operand of the loss"} : tensor<8x4xf32>
  %r = coll.reshard %x from <@m, [["dp", "tp"] unit 2, []]> to <@m, [["dp"], ["tp"]]> {coll.why = "operand of the loss"} : tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @scalar
// CHECK-SAME: (%[[X:.+]]: tensor<f32>)
func.func @scalar(%x: tensor<f32>) {
  // CHECK: %[[R:.+]] = coll.reshard %[[X]] from <@m, [], partial max ["dp", "tp"]> to <@m, []> : tensor<f32>
  %r = coll.reshard %x from <@m, [], partial max ["dp", "tp"]> to <@m, []> : tensor<f32>
  return
}
