// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 2]

func.func private @kernel_0(memref<4xf32>, memref<4xf32>, index, memref<4xf32>)

// Values are named after the memory that they are.
// CHECK: exec.function @step(tensor<4xf32> {coll.name = "w"}, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) updates [0, -1] arena 128 {
// CHECK: ^bb0(%[[ARG0:arg0]]: !exec.buffer, %[[ARG1:arg1]]: !exec.buffer, %[[RESULT:result0]]: !exec.buffer, %[[ARENA:arena]]: !exec.buffer):
exec.function @step(tensor<4xf32> {coll.name = "w"}, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
    updates [0, -1] arena 128 {
^bb0(%w: !exec.buffer, %x: !exec.buffer, %loss: !exec.buffer, %arena: !exec.buffer):
  // CHECK: %[[A:at64]] = exec.view %[[ARENA]][64 for 16]
  %a = exec.view %arena[64 for 16]
  // CHECK: %[[NEW:in_arg0]] = exec.view %[[ARG0]][0 for 16]
  %new = exec.view %w[0 for 16]
  // CHECK: %[[INDICES:.+]] = exec.constant dense<[1, 2]> : tensor<2xi32>
  %indices = exec.constant dense<[1, 2]> : tensor<2xi32>
  %i = arith.constant 0 : index
  // CHECK: exec.communicate reads(%[[ARG1]]) writes(%[[A]]) {
  // CHECK: ^bb0(%[[TENSOR:.+]]: tensor<4xf32>):
  // CHECK: coll.all_reduce sum %[[TENSOR]] over @m["dp"] : tensor<4xf32>
  exec.communicate reads(%x) writes(%a) {
  ^bb0(%t: tensor<4xf32>):
    %s = coll.all_reduce sum %t over @m["dp"] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  // CHECK: %[[REQUEST:.+]] = exec.start reads(%[[A]]) scalars(%{{.+}}) {
  %request = exec.start reads(%a) scalars(%i) {
  ^bb0(%t: tensor<4xf32>, %peer: index):
    coll.send %t to %peer over @m["dp"] : tensor<4xf32>
    coll.yield
  }
  // CHECK: exec.wait %[[REQUEST]]
  exec.wait %request
  // CHECK: exec.call @kernel_0(reuse %[[ARG0]], read %[[A]], %{{.+}} : index, write %[[NEW]])
  exec.call @kernel_0(reuse %w, read %a, %i : index, write %new)
  // CHECK: exec.rename %[[NEW]] to %[[ARG0]]
  exec.rename %new to %w
  // CHECK: exec.gemm %[[ARG0]], %[[ARG0]] into %[[A]] of f32 trans_b mnk [2, 2, 2] lds [2, 2, 2]
  exec.gemm %w, %w into %a of f32 trans_b mnk [2, 2, 2] lds [2, 2, 2]
  // CHECK: exec.gemm %[[ARG0]], %[[ARG0]] into %[[A]] of f32 precision "tf32" mnk [2, 2, 2] lds [2, 2, 2]
  exec.gemm %w, %w into %a of f32 precision "tf32" mnk [2, 2, 2] lds [2, 2, 2]
  // CHECK: exec.gemm %[[ARG0]], %[[ARG0]] into %[[A]] of bf16 to f32 mnk [2, 2, 2] lds [2, 2, 2]
  exec.gemm %w, %w into %a of bf16 to f32 mnk [2, 2, 2] lds [2, 2, 2]
  // CHECK: exec.fill %[[A]] with 1.000000e+00 : f32
  exec.fill %a with 1.000000e+00 : f32
  // CHECK: exec.copy %[[ARG1]] to %[[A]]
  exec.copy %x to %a
  // CHECK: exec.undefined %[[A]]
  exec.undefined %a
  // CHECK: %[[S:.+]] = exec.load %[[ARG1]][%{{.+}}] : f32
  %s = exec.load %x[%i] : f32
  // CHECK: exec.store %[[S]] to %[[RESULT]] : f32
  exec.store %s to %loss : f32
  // CHECK: exec.return
  exec.return
}

// CHECK: func.func private @shared({{.+}}) attributes {exec.members = {copies = 1 : i64, group = #coll.group<@m["dp"]>, size = 2 : i64, sums = 0 : i64}}
func.func private @shared(memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>)
    attributes {exec.members = {group = #coll.group<@m["dp"]>, size = 2 : i64, sums = 0 : i64, copies = 1 : i64}}

// CHECK-LABEL: exec.function @reaching
exec.function @reaching(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 0 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  // CHECK: %[[REACHED:.+]] = exec.reaches over @m["dp"]
  %reached = exec.reaches over @m["dp"]
  // CHECK: scf.if %[[REACHED]]
  scf.if %reached {
    // CHECK: exec.call @shared(read %{{.+}}, write %{{.+}})
    exec.call @shared(read %x, write %r)
  } else {
    exec.copy %x to %r
  }
  exec.return
}

// CHECK: exec.function @init() -> () updates [] arena 0 {
exec.function @init() -> () updates [] arena 0 {
^bb0(%arena: !exec.buffer):
  exec.return
}
