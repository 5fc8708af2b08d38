// RUN: coll-opt %s --coll-kernels-to-gpu --split-input-file | FileCheck %s

#row = affine_map<(i, j) -> (i, j)>
#outer = affine_map<(i, j) -> (i)>

// Rows are contiguous: the threads of a warp share one, and combine their sums by shuffles. The
// fill is what the sum starts from; it is no launch.

// CHECK-LABEL: func.func private @rows(
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT:     gpu.launch_func
// CHECK-LABEL: gpu.func @rows_0(
// CHECK:         scf.for
// CHECK:         gpu.shuffle
// CHECK-NOT:     gpu.barrier
// CHECK:         memref.store
func.func private @rows(%x: tensor<8192x96xf32> {coll.access = "read"},
                        %y: tensor<8192xf32> {coll.access = "write"}) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%y : tensor<8192xf32>) -> tensor<8192xf32>
  %r = linalg.generic {indexing_maps = [#row, #outer], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8192x96xf32>) outs(%start : tensor<8192xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<8192xf32>
  return %r : tensor<8192xf32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#inner = affine_map<(i, j) -> (j)>

// Neighbouring elements belong to different sums: neighbouring threads have one each. The rows are
// cut into parts, whose sums are in scratch memory; a second launch adds them in a fixed order. Its
// neighbouring threads have eight neighbouring sums, so that a warp reads whole sectors of memory.

// CHECK-LABEL: func.func private @columns(
// CHECK-SAME:    %{{.*}}: memref<[[BYTES:.*]]xi8>)
// CHECK:         memref.view %{{.*}} : memref<[[BYTES]]xi8> to memref<[[PARTS:.*]]x768xf32>
// CHECK-COUNT-2: gpu.launch_func
// CHECK-LABEL: gpu.func @columns_0(
// CHECK-NOT:     gpu.shuffle
// CHECK:         memref.store {{.*}} memref<[[PARTS]]x768xf32>
// CHECK-LABEL: gpu.func @columns_1(
// CHECK-SAME:    memref<16x8xf32, #gpu.address_space<workgroup>>
// CHECK-SAME:    known_block_size = array<i32: 512, 1, 1>
// CHECK:         %[[OUTPUT:.*]] = arith.remui %{{.*}}, %c8_i32
// CHECK:         gpu.shuffle xor %{{.*}}, %c16_i32
// CHECK:         gpu.shuffle xor %{{.*}}, %c8_i32
// CHECK-NOT:     gpu.shuffle
// CHECK:         gpu.barrier
func.func private @columns(%x: tensor<8192x768xf32> {coll.access = "read"},
                           %y: tensor<768xf32> {coll.access = "write"}) -> tensor<768xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%y : tensor<768xf32>) -> tensor<768xf32>
  %r = linalg.generic {indexing_maps = [#all, #inner], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8192x768xf32>) outs(%start : tensor<768xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<768xf32>
  return %r : tensor<768xf32>
}

// -----

#each = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>

// An accumulation that has no neutral element keeps its order, in one thread.

// CHECK-LABEL: gpu.func @ordered_0(
// CHECK:         scf.for
// CHECK-NOT:     gpu.shuffle
// CHECK:         gpu.return
func.func private @ordered(%x: tensor<64xf32> {coll.access = "read"},
                           %y: tensor<f32> {coll.access = "readwrite"}) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#each, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<64xf32>) outs(%y : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.subf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
