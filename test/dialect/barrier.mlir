// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @mesh_axis
func.func @mesh_axis() {
  // CHECK: coll.barrier over @m["dp"]
  coll.barrier over @m["dp"]
  return
}

// CHECK-LABEL: func.func @rank_lists
func.func @rank_lists() {
  // CHECK: coll.barrier over {{\[\[}}0, 1]]
  coll.barrier over [[0, 1]]
  return
}
