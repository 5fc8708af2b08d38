// RUN: coll-opt %s --coll-lower-indexed --coll-outline-kernels --split-input-file | FileCheck %s

// An update of a stack at a computed position happens in place.

// CHECK-LABEL: func.func @update
// CHECK-SAME:    %[[STACK:.*]]: tensor<10x8xf32>, %[[ROW:.*]]: tensor<1x8xf32>, %[[I:.*]]: index
// CHECK:       %[[R:.*]] = call @kernel_0(%[[ROW]], %[[I]], %[[STACK]])
// CHECK:       return %[[R]]
// CHECK:       func.func private @kernel_0(%{{.*}}: tensor<1x8xf32> {coll.access = "read"}, %{{.*}}: index,
// CHECK-SAME:    %{{.*}}: tensor<10x8xf32> {coll.access = "readwrite"})
func.func @update(%stack: tensor<10x8xf32>, %row: tensor<1x8xf32>, %i: index) -> tensor<10x8xf32> {
  %r = tensor.insert_slice %row into %stack[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<10x8xf32>
  return %r : tensor<10x8xf32>
}

// -----

// Slices are read where they are, and the parts of a concatenation are computed
// where they go: one kernel.

// CHECK-LABEL: func.func @rotate
// CHECK-SAME:    %[[X:.*]]: tensor<8x32xf32>
// CHECK:       %[[DEST:.*]] = tensor.empty() : tensor<8x32xf32>
// CHECK-NEXT:  %[[R:.*]] = call @kernel_0(%[[X]], %[[DEST]])
// CHECK-NEXT:  return %[[R]]
// CHECK:       func.func private @kernel_0
// CHECK:         arith.negf
func.func @rotate(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %a = tensor.extract_slice %x[0, 0] [8, 16] [1, 1] : tensor<8x32xf32> to tensor<8x16xf32>
  %b = tensor.extract_slice %x[0, 16] [8, 16] [1, 1] : tensor<8x32xf32> to tensor<8x16xf32>
  %n = arith.negf %b : tensor<8x16xf32>
  %r = tensor.concat dim(1) %n, %a : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// -----

// What is moved within one tensor is read completely before it is overwritten.

// CHECK-LABEL: func.func @shift
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>
// CHECK:       %[[TAIL:.*]] = call @[[READ:.*]](%[[X]], %{{.*}}) : (tensor<8xf32>, tensor<7xf32>)
// CHECK:       call @[[WRITE:.*]](%[[TAIL]], %[[X]]) : (tensor<7xf32>, tensor<8xf32>)
// CHECK:       func.func private @[[WRITE]]({{.*}}"read"}, {{.*}}"readwrite"})
func.func @shift(%x: tensor<8xf32>) -> tensor<8xf32> {
  %tail = tensor.extract_slice %x[1] [7] [1] : tensor<8xf32> to tensor<7xf32>
  %r = tensor.insert_slice %tail into %x[0] [7] [1] : tensor<7xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Of many parts, as a bucket of parameters has, a kernel inserts 16; the next one goes on in the same tensor.

// CHECK-LABEL: func.func @bucket
// CHECK:       %[[DEST:.*]] = tensor.empty() : tensor<18x4xf32>
// CHECK-NEXT:  %[[FIRST:.*]] = call @kernel_1({{.*}}, %[[DEST]])
// CHECK-NEXT:  %[[R:.*]] = call @kernel_0({{.*}}, %[[FIRST]])
// CHECK-NEXT:  return %[[R]]
func.func @bucket(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> tensor<18x4xf32> {
  %r = tensor.concat dim(0) %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y
    : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>,
       tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
      -> tensor<18x4xf32>
  return %r : tensor<18x4xf32>
}
