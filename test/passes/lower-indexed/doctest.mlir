// RUN: coll-opt %s --coll-lower-indexed | FileCheck %s

// Rows of an embedding table: the body reads the table at a clamped row.

// CHECK-LABEL: func.func @rows
// CHECK-SAME:    %[[TABLE:.*]]: tensor<128x64xf32>, %[[IDS:.*]]: tensor<8x1xi32>
func.func @rows(%table: tensor<128x64xf32>, %ids: tensor<8x1xi32>) -> tensor<8x64xf32> {
  // CHECK: linalg.generic {{.*}} ins(%[[IDS]] : tensor<8x1xi32>)
  // CHECK: ^bb0(%[[ID:.*]]: i32, %{{.*}}: f32):
  // CHECK: %[[ROW:.*]] = arith.index_cast %[[ID]] : i32 to index
  // CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[ROW]], %{{.*}} : index
  // CHECK: %[[CLAMPED:.*]] = arith.minsi %[[POSITIVE]], %{{.*}} : index
  // CHECK: %[[COLUMN:.*]] = linalg.index 1 : index
  // CHECK: %[[ELEMENT:.*]] = tensor.extract %[[TABLE]][%[[CLAMPED]], %[[COLUMN]]]
  // CHECK: linalg.yield %[[ELEMENT]] : f32
  %r = coll.take %table[%ids] offset_dims [1] collapsed_dims [0] index_map [0]
       slice_sizes [1, 64] : tensor<128x64xf32>, tensor<8x1xi32> -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}
