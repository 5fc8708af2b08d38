// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

// CHECK: coll.mesh @one ["dp" = 4]
coll.mesh @one ["dp" = 4]

// CHECK: coll.mesh @two ["dp" = 4, "tp" = 2]
coll.mesh @two ["dp" = 4, "tp" = 2]

// CHECK: coll.mesh @quoted ["a \22b\22" = 1]
coll.mesh @quoted ["a \22b\22" = 1]

// CHECK: coll.mesh @largest ["x" = 4096, "y" = 4096]
coll.mesh @largest ["x" = 4096, "y" = 4096]

// CHECK: coll.mesh @none []
coll.mesh @none []

// CHECK: coll.mesh @noted ["dp" = 4] {note = "kept"}
coll.mesh @noted ["dp" = 4] {note = "kept"}
