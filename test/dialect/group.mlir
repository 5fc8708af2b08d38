// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @mesh_axis
func.func @mesh_axis() {
  // CHECK: %[[I:.+]], %[[N:.+]] = coll.group over @m["dp"]
  %i, %n = coll.group over @m["dp"]
  return
}
