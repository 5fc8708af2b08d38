// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

// CHECK-LABEL: func.func @rank
func.func @rank() {
  // CHECK: %[[R:.+]] = coll.rank
  %r = coll.rank
  return
}
