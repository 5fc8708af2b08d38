// RUN: coll-opt %s --coll-to-exec --coll-emit-executable | FileCheck %s

// A division that would trap divides by 1; one by a harmless constant stays as it is.
// CHECK-LABEL: llvm.func @kernel_0
// CHECK: %[[IS_ZERO:.*]] = llvm.icmp "eq" %[[B:.*]], %{{.*}} : i32
// CHECK: %[[TRAPS:.*]] = llvm.or %[[IS_ZERO]], %{{.*}} : i1
// CHECK: %[[SAFE:.*]] = llvm.select %[[TRAPS]], %{{.*}}, %[[B]]
// CHECK: %[[QUOTIENT:.*]] = llvm.sdiv %{{.*}}, %[[SAFE]]
// CHECK-NOT: llvm.select
// CHECK: llvm.srem %[[QUOTIENT]], %{{.*}}

func.func private @kernel_0(%a: tensor<8xi32> {coll.access = "read"}, %b: tensor<8xi32> {coll.access = "read"},
                            %out: tensor<8xi32> {coll.access = "write"}) -> tensor<8xi32> {
  %seven = arith.constant 7 : i32
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
       ins(%a, %b : tensor<8xi32>, tensor<8xi32>) outs(%out : tensor<8xi32>) {
  ^bb0(%x: i32, %y: i32, %old: i32):
    %q = arith.divsi %x, %y : i32
    %r = arith.remsi %q, %seven : i32
    linalg.yield %r : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

func.func @step(%a: tensor<8xi32>, %b: tensor<8xi32>) -> tensor<8xi32> {
  %out = tensor.empty() : tensor<8xi32>
  %0 = func.call @kernel_0(%a, %b, %out) : (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
