// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

coll.mesh @m ["dp" = 4, "tp" = 2]

// CHECK-LABEL: func.func @mesh_axis
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @mesh_axis(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.all_reduce sum %[[X]] over @m["dp"] : tensor<4xf32>
  %r = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @mesh_axes
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @mesh_axes(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.all_reduce avg %[[X]] over @m["tp", "dp"] : tensor<4xf32>
  %r = coll.all_reduce avg %x over @m["tp", "dp"] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @rank_lists
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @rank_lists(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.all_reduce max %[[X]] over {{\[\[}}0, 1], [2, 3]] : tensor<4xf32>
  %r = coll.all_reduce max %x over [[0, 1], [2, 3]] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @ordered
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @ordered(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.all_reduce sum %[[X]] over @m["dp"] order rank : tensor<4xf32>
  %r = coll.all_reduce sum %x over @m["dp"] order rank : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @in_f32
// CHECK-SAME: (%[[X:.+]]: tensor<4xbf16>, %[[Y:.+]]: tensor<4xf8E4M3FN>)
func.func @in_f32(%x: tensor<4xbf16>, %y: tensor<4xf8E4M3FN>) {
  // CHECK: %[[R:.+]] = coll.all_reduce sum in f32 %[[X]] over @m["dp"] order rank : tensor<4xbf16>
  // CHECK: %[[S:.+]] = coll.all_reduce avg in f32 %[[Y]] over @m["dp"] : tensor<4xf8E4M3FN>
  %r = coll.all_reduce sum in f32 %x over @m["dp"] order rank : tensor<4xbf16>
  %s = coll.all_reduce avg in f32 %y over @m["dp"] : tensor<4xf8E4M3FN>
  return
}

// CHECK-LABEL: func.func @scalar
// CHECK-SAME: (%[[X:.+]]: tensor<i32>)
func.func @scalar(%x: tensor<i32>) {
  // CHECK: %[[R:.+]] = coll.all_reduce xor %[[X]] over @m["dp"] : tensor<i32>
  %r = coll.all_reduce xor %x over @m["dp"] : tensor<i32>
  return
}

// CHECK-LABEL: func.func @reason
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @reason(%x: tensor<4xf32>) {
  // CHECK: %[[R:.+]] = coll.all_reduce sum %[[X]] over @m["dp"] {coll.why = "gradient of w1"} : tensor<4xf32>
  %r = coll.all_reduce sum %x over @m["dp"] {coll.why = "gradient of w1"} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @kinds
// CHECK-SAME: (%[[I:.+]]: tensor<2xi8>, %[[F:.+]]: tensor<2xbf16>)
func.func @kinds(%i: tensor<2xi8>, %f: tensor<2xbf16>) {
  // CHECK: %[[PROD:.+]] = coll.all_reduce prod %[[I]] over @m["dp"] : tensor<2xi8>
  // CHECK-NEXT: %[[MIN:.+]] = coll.all_reduce min %[[I]] over @m["dp"] : tensor<2xi8>
  // CHECK-NEXT: %[[UMIN:.+]] = coll.all_reduce umin %[[I]] over @m["dp"] : tensor<2xi8>
  // CHECK-NEXT: %[[UMAX:.+]] = coll.all_reduce umax %[[I]] over @m["dp"] : tensor<2xi8>
  // CHECK-NEXT: %[[AND:.+]] = coll.all_reduce and %[[I]] over @m["dp"] : tensor<2xi8>
  // CHECK-NEXT: %[[OR:.+]] = coll.all_reduce or %[[I]] over @m["dp"] : tensor<2xi8>
  // CHECK-NEXT: %[[FAVG:.+]] = coll.all_reduce avg %[[F]] over @m["dp"] : tensor<2xbf16>
  %prod = coll.all_reduce prod %i over @m["dp"] : tensor<2xi8>
  %min = coll.all_reduce min %i over @m["dp"] : tensor<2xi8>
  %umin = coll.all_reduce umin %i over @m["dp"] : tensor<2xi8>
  %umax = coll.all_reduce umax %i over @m["dp"] : tensor<2xi8>
  %and = coll.all_reduce and %i over @m["dp"] : tensor<2xi8>
  %or = coll.all_reduce or %i over @m["dp"] : tensor<2xi8>
  %favg = coll.all_reduce avg %f over @m["dp"] : tensor<2xbf16>
  return
}

// CHECK-LABEL: func.func @empty_tensor
// CHECK-SAME: (%[[X:.+]]: tensor<0x3xf32>)
func.func @empty_tensor(%x: tensor<0x3xf32>) {
  // CHECK: %[[R:.+]] = coll.all_reduce sum %[[X]] over @m["dp"] : tensor<0x3xf32>
  %r = coll.all_reduce sum %x over @m["dp"] : tensor<0x3xf32>
  return
}
