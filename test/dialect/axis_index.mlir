// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @one_axis
func.func @one_axis() {
  // CHECK: %[[I:.+]] = coll.axis_index @m["dp"]
  %i = coll.axis_index @m["dp"]
  return
}

// CHECK-LABEL: func.func @two_axes
func.func @two_axes() {
  // CHECK: %[[I:.+]] = coll.axis_index @m["tp", "dp"]
  %i = coll.axis_index @m["tp", "dp"]
  return
}
