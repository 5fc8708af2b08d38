// RUN: coll-opt %s --coll-to-exec="gpu=sm_90" --coll-emit-executable | FileCheck %s

// The host code enqueues everything; what the control flow depends on is fetched. The texts and the
// constants of the GPU are symbols beside it.

// CHECK: module @class0
// CHECK-NOT: gpu.
// CHECK: llvm.mlir.global external constant @coll_descriptor({{.*}}\22device\22:\22gpu\22
// CHECK-DAG: llvm.mlir.global external constant @coll_gpu_kernels({{.*}}\22block\22:{{.*}}\22name\22:
// CHECK-DAG: llvm.mlir.global external constant @coll_gpu_image({{.*}}.target sm_90
// CHECK-DAG: llvm.mlir.global external constant @coll_constants("{{[^"]+}}")
// CHECK-NOT: llvm.call @kernel
// CHECK: llvm.func @coll_step(%[[ABI:[a-z0-9]+]]: !llvm.ptr
// constants is entry 24.
// CHECK: llvm.getelementptr %[[ABI]][200]
// contract is entry 25, launch 19, copy 20, fill 21, fetch 22, store 23.
// CHECK: llvm.getelementptr %[[ABI]][208]
// CHECK: llvm.getelementptr %[[ABI]][160]
// CHECK: llvm.getelementptr %[[ABI]][184]
// CHECK: llvm.getelementptr %[[ABI]][168]
func.func private @kernel_0(%a: tensor<8x8xf32> {coll.access = "read"},
                            %b: tensor<8xf32> {coll.access = "read"}, %i: index,
                            %d: tensor<8x8xf32> {coll.access = "write"}) -> tensor<8x8xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x8xf32>, tensor<8xf32>) outs(%d : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %x, %y : f32
    %t = arith.addf %s, %f : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
func.func @step(%w: tensor<8x8xf32> {coll.role = "state"}, %x: tensor<8x8xf32>, %more: tensor<i1>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %bias = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %empty = tensor.empty() : tensor<8x8xf32>
  %product = coll.gemm %w, %x into %empty mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  %d = tensor.empty() : tensor<8x8xf32>
  %r = func.call @kernel_0(%product, %bias, %c0, %d) : (tensor<8x8xf32>, tensor<8xf32>, index, tensor<8x8xf32>) -> tensor<8x8xf32>
  %condition = tensor.extract %more[] : tensor<i1>
  %out = scf.if %condition -> tensor<8x8xf32> {
    scf.yield %x : tensor<8x8xf32>
  } else {
    scf.yield %r : tensor<8x8xf32>
  }
  return %r, %out : tensor<8x8xf32>, tensor<8x8xf32>
}
