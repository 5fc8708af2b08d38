// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @collective
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>, %[[D:.+]]: tensor<4xf32>)
func.func @collective(%x: tensor<4xf32>, %d: tensor<4xf32>) {
  // CHECK: %[[Q:.+]] = coll.start ins(%[[X]] : tensor<4xf32>) outs(%[[D]] : tensor<4xf32>) {
  // CHECK-NEXT: ^{{.+}}(%[[A:.+]]: tensor<4xf32>):
  // CHECK-NEXT: %[[S:.+]] = coll.all_reduce sum %[[A]] over @m["dp"] : tensor<4xf32>
  // CHECK-NEXT: coll.yield %[[S]] : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[R:.+]] = coll.wait %[[Q]] ins(%[[X]] : tensor<4xf32>) outs(%[[D]] : tensor<4xf32>)
  %q = coll.start ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
    coll.yield %s : tensor<4xf32>
  }
  %r = coll.wait %q ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>)
  return
}

// CHECK-LABEL: func.func @send_on_stream
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>, %[[P:.+]]: index)
func.func @send_on_stream(%x: tensor<4xf32>, %p: index) {
  // CHECK: %[[Q:.+]] = coll.start stream 1 ins(%[[X]], %[[P]] : tensor<4xf32>, index) {
  // CHECK-NEXT: ^{{.+}}(%[[A:.+]]: tensor<4xf32>, %[[B:.+]]: index):
  // CHECK-NEXT: coll.send %[[A]] to %[[B]] over @m["dp"] : tensor<4xf32>
  // CHECK-NEXT: coll.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: coll.wait %[[Q]] ins(%[[X]], %[[P]] : tensor<4xf32>, index)
  %q = coll.start stream 1 ins(%x, %p : tensor<4xf32>, index) {
  ^bb0(%a: tensor<4xf32>, %b: index):
    coll.send %a to %b over @m["dp"] : tensor<4xf32>
    coll.yield
  }
  coll.wait %q ins(%x, %p : tensor<4xf32>, index)
  return
}

// CHECK-LABEL: func.func @barrier
func.func @barrier() {
  // CHECK: %[[Q:.+]] = coll.start {
  // CHECK-NEXT: coll.barrier over @m["dp"]
  // CHECK-NEXT: coll.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: coll.wait %[[Q]]
  %q = coll.start {
    coll.barrier over @m["dp"]
    coll.yield
  }
  coll.wait %q
  return
}
