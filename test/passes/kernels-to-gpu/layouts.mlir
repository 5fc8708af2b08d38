// REQUIRES: kernel-diff

// RUN: coll-opt %s --coll-lower-indexed --coll-fuse-kernels --coll-outline-kernels -o %t
// RUN: coll-opt %t --coll-kernels-to-gpu | FileCheck %s
// RUN: kernel-diff %t | FileCheck %s --check-prefix=EQUAL

// EQUAL: 4 kernels, {{[0-9]+}} launches, 0 differ

// The last operation is kernel 0. A part of a concatenation that is computed in its place is not copied there.

// CHECK-LABEL: func.func private @kernel_0(
// CHECK-COUNT-2: gpu.launch_func
// CHECK-NOT:   gpu.launch_func
// CHECK:       return

// A thread that owns few rows reads the rows' numbers of eight updates before it works on one.

// CHECK-LABEL: gpu.func @kernel_1_1(
// CHECK:         scf.for
// CHECK-COUNT-8: memref.load {{.*}} : memref<64x1xi32>
// CHECK-NOT:     memref<64x1xi32>
// CHECK:         scf.if

// Warps of a transpose read along the rows of its source: 32 neighbours of 8 x 4 elements that a block writes
// along its result.

// CHECK-LABEL: gpu.func @kernel_3_0(
// CHECK:         arith.constant 32 : i32
// CHECK:         arith.remui
// CHECK:         arith.constant 8 : i32
// CHECK:         arith.remui
// CHECK:         vector.store {{.*}} : memref<64x1024xf32>, vector<4xf32>

func.func @step(%x: tensor<1024x64xf32>, %n: tensor<4x30x20xbf16>, %updates: tensor<64x32xf32>, %ids: tensor<64x1xi32>,
                %a: tensor<12x8xf32>, %b: tensor<12x16xf32>)
    -> (tensor<64x1024xf32>, tensor<20x4x30xbf16>, tensor<1000x32xf32>, tensor<12x24xf32>) {
  %te = tensor.empty() : tensor<64x1024xf32>
  %t = linalg.transpose ins(%x : tensor<1024x64xf32>) outs(%te : tensor<64x1024xf32>) permutation = [1, 0]
  // No whole tiles.
  %ue = tensor.empty() : tensor<20x4x30xbf16>
  %u = linalg.transpose ins(%n : tensor<4x30x20xbf16>) outs(%ue : tensor<20x4x30xbf16>) permutation = [2, 0, 1]
  %zero = arith.constant dense<0.0> : tensor<1000x32xf32>
  %r = coll.accumulate %updates into %zero[%ids] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%current: f32, %update: f32):
    %s = arith.addf %current, %update : f32
    coll.yield %s : f32
  } : tensor<64x32xf32>, tensor<1000x32xf32>, tensor<64x1xi32>
  %c = tensor.concat dim(1) %a, %b : (tensor<12x8xf32>, tensor<12x16xf32>) -> tensor<12x24xf32>
  return %t, %u, %r, %c : tensor<64x1024xf32>, tensor<20x4x30xbf16>, tensor<1000x32xf32>, tensor<12x24xf32>
}
