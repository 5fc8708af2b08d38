// RUN: coll-opt %s --coll-form-root-update="root=hash" | FileCheck %s

// Momentum: the parameter is read by the loss and is forwarded; its momentum stays at the root.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3x2xf32> {{.*}}, %[[M:[a-z0-9]+]]: tensor<3x2xf32> {{.*}}, %[[X:[a-z0-9]+]]: tensor<8x3xf32> {{.*}}, %[[DY:[a-z0-9]+]]: tensor<8x2xf32>
// CHECK: linalg.matmul
// CHECK: %[[G:.+]] = linalg.matmul
// CHECK: %[[NEW:.+]]:2 = coll.root_update grad(%[[G]] : tensor<3x2xf32>) state(%[[W]], %[[M]] : tensor<3x2xf32>, tensor<3x2xf32>) factor(%{{.+}} : tensor<f32>) forward 1 root hash route direct {
// CHECK: ^bb0(%[[GE:.+]]: f32, %[[WE:.+]]: f32, %[[ME:.+]]: f32, %[[RATE:.+]]: f32):
// CHECK-DAG: %[[DECAY:.+]] = arith.constant 0.899999976 : f32
// CHECK: %[[OLD:.+]] = arith.mulf %[[ME]], %[[DECAY]] : f32
// CHECK: %[[SUM:.+]] = arith.addf %[[OLD]], %[[GE]] : f32
// CHECK: %[[STEP:.+]] = arith.mulf %[[SUM]], %[[RATE]] : f32
// CHECK: %[[NEXT:.+]] = arith.subf %[[WE]], %[[STEP]] : f32
// CHECK: coll.yield %[[NEXT]], %[[SUM]] : f32, f32
// CHECK: return %[[NEW]]#0, %[[NEW]]#1
func.func @step(%w: tensor<3x2xf32> {coll.role = "state", coll.name = "w"},
                %m: tensor<3x2xf32> {coll.role = "state", coll.name = "m"},
                %x: tensor<8x3xf32> {coll.role = "batch"}, %dy: tensor<8x2xf32> {coll.role = "batch"},
                %rate: tensor<f32> {coll.role = "batch"})
    -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<8x2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x2xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x3xf32>, tensor<3x2xf32>) outs(%zero : tensor<8x2xf32>) -> tensor<8x2xf32>
  %empty = tensor.empty() : tensor<3x8xf32>
  %xt = linalg.transpose ins(%x : tensor<8x3xf32>) outs(%empty : tensor<3x8xf32>) permutation = [1, 0]
  %zero1 = arith.constant dense<0.0> : tensor<3x2xf32>
  %g = linalg.matmul ins(%xt, %dy : tensor<3x8xf32>, tensor<8x2xf32>) outs(%zero1 : tensor<3x2xf32>) -> tensor<3x2xf32>
  %decay = arith.constant dense<0.9> : tensor<3x2xf32>
  %0 = arith.mulf %m, %decay : tensor<3x2xf32>
  %m1 = arith.addf %0, %g : tensor<3x2xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %rates = linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%rate : tensor<f32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x2xf32>
  %2 = arith.mulf %m1, %rates : tensor<3x2xf32>
  %w1 = arith.subf %w, %2 : tensor<3x2xf32>
  return %w1, %m1, %y : tensor<3x2xf32>, tensor<3x2xf32>, tensor<8x2xf32>
}
