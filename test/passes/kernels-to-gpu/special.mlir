// RUN: coll-opt %s --coll-lower-indexed --coll-outline-kernels --coll-kernels-to-gpu | FileCheck %s

// What is infinite, or no number: outside of the range of normal numbers the instruction decides. Kernel 0 is that
// of the last operation.

// CHECK-LABEL: gpu.func @kernel_0_0(
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[NORMAL:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK:         %[[IS_NORMAL:.*]] = arith.cmpf olt
// CHECK:         %[[OTHER:.*]] = math.exp2
// CHECK:         arith.select %[[IS_NORMAL]], %[[NORMAL]], %[[OTHER]]

// An amount of 64 bits to shift by is made small before, because the instruction reads 32 of them.

// CHECK-LABEL: gpu.func @kernel_1_0(
// CHECK:         %[[AMOUNT:.*]] = arith.minui %{{.*}}, %c63_i64
// CHECK:         arith.shli %{{.*}}, %[[AMOUNT]] : i64
func.func @step(%x: tensor<300xf32>, %a: tensor<300xi64>, %b: tensor<300xi64>) -> (tensor<300xi64>, tensor<300xf32>) {
  %s = arith.shli %a, %b : tensor<300xi64>
  %e = math.exp %x : tensor<300xf32>
  return %s, %e : tensor<300xi64>, tensor<300xf32>
}
