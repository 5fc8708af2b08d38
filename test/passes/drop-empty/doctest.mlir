// RUN: coll-opt %s --coll-drop-empty | FileCheck %s

// What has no elements is not computed; what is made from it still is.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[NONE:.*]] = tensor.empty() : tensor<0xf32>
// CHECK-NOT: extract_slice
// CHECK-NOT: negf
// CHECK: %[[ALL:.*]] = tensor.concat dim(0) %[[NONE]], %[[X]]
// CHECK: return %[[ALL]]
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.extract_slice %x[2] [0] [1] : tensor<4xf32> to tensor<0xf32>
  %1 = arith.negf %0 : tensor<0xf32>
  %2 = tensor.concat dim(0) %1, %x : (tensor<0xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A sum of nothing is what it starts from.
// CHECK-LABEL: @sum
// CHECK-SAME: %[[START:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: return %[[START]]
func.func @sum(%x: tensor<3x0xf32>, %start: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.reduce ins(%x : tensor<3x0xf32>) outs(%start : tensor<3xf32>) dimensions = [1]
    (%in: f32, %sum: f32) {
      %s = arith.addf %in, %sum : f32
      linalg.yield %s : f32
    }
  return %0 : tensor<3xf32>
}

// Nor does anything change where nothing is written.
// CHECK-LABEL: @write
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<5x8xf32>
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @write(%x: tensor<5x8xf32>, %i: tensor<0x1xi32>, %u: tensor<0x8xf32>)
    -> (tensor<5x8xf32>, tensor<5x8xf32>) {
  %0 = coll.accumulate %u into %x[%i] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    coll.yield %s : f32
  } : tensor<0x8xf32>, tensor<5x8xf32>, tensor<0x1xi32>
  %1 = tensor.insert_slice %u into %x[0, 0] [0, 8] [1, 1] : tensor<0x8xf32> into tensor<5x8xf32>
  return %0, %1 : tensor<5x8xf32>, tensor<5x8xf32>
}
