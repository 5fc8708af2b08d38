// RUN: coll-opt %s --coll-to-exec --coll-verify-exec | FileCheck %s

// The tensors of a call lie one behind the other in the arena, each at a multiple of 64 bytes.

coll.mesh @m ["pp" = 2, "dp" = 2]

// The constant is written there. The argument, which has its own memory, and the value that is
// needed again are copied there.
// CHECK: module @class0
// CHECK: exec.function @step({{.*}} arena 192
// CHECK: %[[A:at[0-9_]+]] = exec.view %arena[0 for 16]
// CHECK-NEXT: %[[MADE:at[0-9_]+]] = exec.view %arena[64 for 24]
// CHECK-NEXT: %[[B:at[0-9_]+]] = exec.view %arena[64 for 24]
// CHECK: %[[C:at[0-9_]+]] = exec.view %arena[128 for 4]
// CHECK: exec.fill %[[MADE]] with 1.0
// CHECK: exec.fill %[[KEPT:in_result3]] with 2.0
// CHECK-NEXT: exec.copy %arg0 to %[[A]]
// CHECK-NEXT: exec.copy %[[KEPT]] to %[[C]]
// CHECK-NEXT: exec.rename %[[MADE]] to %[[B]]
// CHECK-NEXT: exec.communicate reads(%[[A]], %[[B]], %[[C]]) writes(%[[A]], %[[B]], %[[C]]) {
// CHECK-NEXT: ^bb0(%{{.+}}: tensor<4xf32>, %{{.+}}: tensor<2x3xf32>, %{{.+}}: tensor<f32>):
// CHECK-COUNT-3: coll.all_reduce sum
// CHECK: coll.yield
// CHECK-NOT: exec.wait
// CHECK: exec.communicate
coll.program @class0 ranks [0, 1] {
  func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> (tensor<4xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) {
    %y = arith.constant {emit.fill} dense<1.0> : tensor<2x3xf32>
    %z = arith.constant {emit.fill} dense<2.0> : tensor<f32>
    %f = coll.start ins(%x, %y, %z : tensor<4xf32>, tensor<2x3xf32>, tensor<f32>) {
    ^bb0(%a: tensor<4xf32>, %b: tensor<2x3xf32>, %c: tensor<f32>):
      %0 = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
      %1 = coll.all_reduce sum %b over @m["dp"] : tensor<2x3xf32>
      %2 = coll.all_reduce sum %c over @m["dp"] : tensor<f32>
      coll.yield %0, %1, %2 : tensor<4xf32>, tensor<2x3xf32>, tensor<f32>
    } : !coll.future<tensor<4xf32>, tensor<2x3xf32>, tensor<f32>>
    %r:3 = coll.await %f : !coll.future<tensor<4xf32>, tensor<2x3xf32>, tensor<f32>>
    %w = coll.all_reduce max %z over @m["dp"] : tensor<f32>
    return %r#0, %r#1, %r#2, %w : tensor<4xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>
  }
}

// Work between the start and its await: the call is in flight, in place.
// CHECK: module @class1
// CHECK: %[[REQ:.+]] = exec.start reads(%[[P:.+]], %[[Q:.+]]) writes(%[[P]], %[[Q]]) {
// CHECK: exec.communicate reads(%arg0)
// CHECK: exec.wait %[[REQ]] writes(%[[P]], %[[Q]])
coll.program @class1 ranks [2, 3] {
  func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> (tensor<4xf32>, tensor<8xf32>) {
    %y = arith.constant {emit.fill} dense<1.0> : tensor<8xf32>
    %f = coll.start ins(%x, %y : tensor<4xf32>, tensor<8xf32>) {
    ^bb0(%a: tensor<4xf32>, %b: tensor<8xf32>):
      %0 = coll.broadcast %a from 0 over @m["dp"] : tensor<4xf32>
      %1 = coll.broadcast %b from 0 over @m["dp"] : tensor<8xf32>
      coll.yield %0, %1 : tensor<4xf32>, tensor<8xf32>
    } : !coll.future<tensor<4xf32>, tensor<8xf32>>
    %m = coll.all_reduce max %x over @m["dp"] : tensor<4xf32>
    %r:2 = coll.await %f : !coll.future<tensor<4xf32>, tensor<8xf32>>
    return %m, %r#1 : tensor<4xf32>, tensor<8xf32>
  }
}
