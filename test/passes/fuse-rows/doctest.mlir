// RUN: coll-opt %s --coll-lower-indexed --coll-fuse-kernels --coll-outline-kernels --coll-fuse-rows -o %t
// RUN: FileCheck %s < %t
// RUN: coll-opt %t --coll-kernels-to-gpu | FileCheck %s --check-prefix=LAUNCH

// Softmax of rows: the largest value and the sum of a row are in no memory, and one launch reads
// each element from memory and writes it.

// CHECK-LABEL: func.func @softmax
// CHECK-SAME:    %[[X:.*]]: tensor<512x96xf32>
// CHECK:       %[[D:.*]] = tensor.empty() : tensor<512x96xf32>
// CHECK-NEXT:  %[[R:.*]] = call @rows_0(%[[X]], %[[D]])
// CHECK-NEXT:  return %[[R]]
// CHECK:       func.func private @rows_0(%{{.*}}: tensor<512x96xf32> {coll.access = "read"
// CHECK-SAME:    coll.may_alias = array<i64: 0>}, %{{.*}}: tensor<512x96xf32> {coll.access = "write"})
// CHECK-SAME:    rows = array<i64: 512, 96>
// CHECK-NOT:   func.func private
// LAUNCH-COUNT-1: gpu.launch_func
// LAUNCH-NOT: gpu.launch_func
func.func @softmax(%x: tensor<512x96xf32>) -> tensor<512x96xf32> {
  %low = arith.constant dense<0xFF800000> : tensor<512xf32>
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %max = linalg.reduce ins(%x : tensor<512x96xf32>) outs(%low : tensor<512xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %m = arith.maximumf %acc, %in : f32
      linalg.yield %m : f32
    }
  %e = tensor.empty() : tensor<512x96xf32>
  %most = linalg.broadcast ins(%max : tensor<512xf32>) outs(%e : tensor<512x96xf32>) dimensions = [1]
  %shifted = arith.subf %x, %most : tensor<512x96xf32>
  %exp = math.exp %shifted : tensor<512x96xf32>
  %sum = linalg.reduce ins(%exp : tensor<512x96xf32>) outs(%zero : tensor<512xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    }
  %all = linalg.broadcast ins(%sum : tensor<512xf32>) outs(%e : tensor<512x96xf32>) dimensions = [1]
  %r = arith.divf %exp, %all : tensor<512x96xf32>
  return %r : tensor<512x96xf32>
}
