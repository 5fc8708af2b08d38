// RUN: coll-opt %s | coll-opt | FileCheck %s
// RUN: coll-opt %s --emit-bytecode | coll-opt | FileCheck %s
// RUN: coll-opt %s --mlir-print-op-generic | coll-opt | FileCheck %s

// CHECK-LABEL: func.func @momentum
// CHECK-SAME: (%[[G:.+]]: tensor<4x8xbf16>, %[[W:.+]]: tensor<4x8xf32>, %[[M:.+]]: tensor<4x8xf32>, %[[R:.+]]: tensor<f32>, %[[S:.+]]: tensor<4xf32>)
func.func @momentum(%g: tensor<4x8xbf16>, %w: tensor<4x8xf32>, %m: tensor<4x8xf32>,
                    %rate: tensor<f32>, %scale: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: %[[NEW:.+]]:2 = coll.root_update grad(%[[G]] : tensor<4x8xbf16>) state(%[[W]], %[[M]] : tensor<4x8xf32>, tensor<4x8xf32>) factor(%[[R]], %[[S]] : tensor<f32>, tensor<4xf32>) forward 1 root balanced route ring {
  %w1, %m1 = coll.root_update grad(%g : tensor<4x8xbf16>) state(%w, %m : tensor<4x8xf32>, tensor<4x8xf32>) factor(%rate, %scale : tensor<f32>, tensor<4xf32>) forward 1 root balanced route ring {
  ^bb0(%ge: bf16, %we: f32, %me: f32, %r: f32, %s: f32):
    %wide = arith.extf %ge : bf16 to f32
    %scaled = arith.mulf %wide, %s : f32
    %sum = arith.addf %scaled, %me : f32
    %step = arith.mulf %sum, %r : f32
    %next = arith.subf %we, %step : f32
    // CHECK: coll.yield %{{.+}}, %{{.+}} : f32, f32
    coll.yield %next, %sum : f32, f32
  }
  // CHECK: return %[[NEW]]#0, %[[NEW]]#1
  return %w1, %m1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Without factors, root and route; nothing is forwarded.
// CHECK-LABEL: func.func @plain
func.func @plain(%g: tensor<4xf32>, %m: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: coll.root_update grad(%{{.+}} : tensor<4xf32>) state(%{{.+}} : tensor<4xf32>) forward 0 {
  %m1 = coll.root_update grad(%g : tensor<4xf32>) state(%m : tensor<4xf32>) forward 0 {
  ^bb0(%ge: f32, %me: f32):
    coll.yield %ge : f32
  }
  return %m1 : tensor<4xf32>
}
