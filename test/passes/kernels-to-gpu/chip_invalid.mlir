// RUN: not coll-opt %s --coll-kernels-to-gpu="ptx=%t chip=sm_20" 2>&1 | FileCheck %s

// CHECK: error: cannot be compiled for 'sm_20': chips are sm_80, sm_90, sm_100 and the like

func.func private @fill(%y: tensor<64xf32> {coll.access = "write"}) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.fill ins(%zero : f32) outs(%y : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
