// RUN: coll-opt %s --coll-to-exec="gpu=sm_90 precision=tf32" --coll-verify-exec | FileCheck %s
// RUN: not coll-opt %s --coll-to-exec="gpu=sm_90 precision=f16" 2>&1 | FileCheck %s --check-prefix=PRECISION
// PRECISION: precision must be highest, tf32 or bf16, not 'f16'

// The functions of a GPU stand beside the step; what is called is what launches them.
// CHECK: module @class0 attributes {exec.gpu = "sm_90", exec.ranks = array<i64: 0>, gpu.container_module} {
// CHECK-DAG: gpu.module @gpu_kernels
// CHECK-DAG: gpu.launch_func @gpu_kernels::
// CHECK: exec.function @step
// CHECK: exec.gemm %arg0, %arg1 into %[[PRODUCT:.+]] of f32 precision "tf32" mnk [8, 8, 8]
// CHECK: exec.call @kernel_0(reuse %arg0, read %[[PRODUCT]], write %{{.+}})
func.func private @kernel_0(%a: tensor<8x8xf32> {coll.access = "read", coll.may_alias = array<i64: 0>},
                            %b: tensor<8x8xf32> {coll.access = "read"},
                            %d: tensor<8x8xf32> {coll.access = "write"}) -> tensor<8x8xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
func.func @step(%w: tensor<8x8xf32> {coll.role = "state"}, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %empty = tensor.empty() : tensor<8x8xf32>
  %product = coll.gemm %w, %x into %empty mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  %d = tensor.empty() : tensor<8x8xf32>
  %r = func.call @kernel_0(%w, %product, %d) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
