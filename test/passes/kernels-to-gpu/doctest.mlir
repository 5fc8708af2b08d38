// RUN: coll-opt %s --coll-kernels-to-gpu | FileCheck %s

// A kernel function launches a function of the GPU. Four neighbouring elements are one access of 16
// bytes.

// CHECK-LABEL: func.func private @kernel_0(
// CHECK-SAME:    %[[X:.*]]: memref<65536xf32>, %[[Y:.*]]: memref<65536xf32>)
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// CHECK:         gpu.launch_func @gpu_kernels::@kernel_0_0 blocks in (%[[BLOCKS]], {{.*}}) threads in (%[[THREADS]], {{.*}}) args(%[[X]] : memref<65536xf32>, %[[Y]] : memref<65536xf32>)
func.func private @kernel_0(%x: tensor<65536xf32> {coll.access = "read", coll.may_alias = array<i64: 0>},
                            %y: tensor<65536xf32> {coll.access = "write"}) -> tensor<65536xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<65536xf32>) outs(%y : tensor<65536xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<65536xf32>
  return %r : tensor<65536xf32>
}

// CHECK:       gpu.module @gpu_kernels
// CHECK:         gpu.func @kernel_0_0(%[[IN:.*]]: memref<65536xf32>, %[[OUT:.*]]: memref<65536xf32>) kernel
// CHECK:           vector.load %[[IN]][{{.*}}alignment = 16
// CHECK-COUNT-4:   arith.addf
// CHECK:           vector.store {{.*}}, %[[OUT]][{{.*}}alignment = 16
