// RUN: coll-opt %s --coll-delay-gradients="steps=2" | FileCheck %s

// The update keeps two gradients as state, takes the older one, and waits until there is one. The
// count of steps waits with it.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32> {coll.name = "w", coll.role = "state"}
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<i32> {coll.name = "t", coll.role = "state"}
// CHECK-SAME: %[[COUNT:[a-z0-9]+]]: tensor<i32> {coll.name = "late.count", coll.parts = [], coll.role = "state"}
// CHECK-SAME: %[[OLD:[a-z0-9]+]]: tensor<4xf32> {coll.name = "late.w.0", coll.parts = [], coll.role = "state"}
// CHECK-SAME: %[[NEW:[a-z0-9]+]]: tensor<4xf32> {coll.name = "late.w.1", coll.parts = [], coll.role = "state"}
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32> {coll.role = "batch"}
// CHECK: %[[READY:.+]] = arith.cmpi sge, %[[COUNT]]
// CHECK: %[[COUNTED:.+]] = arith.minsi
// CHECK: %[[G:.+]] = arith.mulf %[[W]], %[[X]]
// CHECK: %[[UPDATED:.+]]:3 = coll.root_update grad(%[[G]] : tensor<4xf32>) state(%[[W]], %[[OLD]], %[[NEW]] : {{.+}}) factor(%{{.+}}, %[[READY]] : tensor<f32>, tensor<i1>) forward 1 {
// CHECK: ^bb0(%[[GE:.+]]: f32, %[[WE:.+]]: f32, %[[OLDE:.+]]: f32, %[[NEWE:.+]]: f32, %[[RATE:.+]]: f32, %[[ISREADY:.+]]: i1):
// CHECK: %[[STEP:.+]] = arith.mulf %[[OLDE]], %[[RATE]]
// CHECK: %[[NEXT:.+]] = arith.subf %[[WE]], %[[STEP]]
// CHECK: %[[KEPT:.+]] = arith.select %[[ISREADY]], %[[NEXT]], %[[WE]]
// CHECK: coll.yield %[[KEPT]], %[[NEWE]], %[[GE]]
// CHECK: %[[NEXTT:.+]] = arith.addi %[[T]]
// CHECK: %[[KEPTT:.+]] = arith.select %[[READY]], %[[NEXTT]], %[[T]]
// CHECK: return %[[UPDATED]]#0, %[[KEPTT]], %[[COUNTED]], %[[UPDATED]]#1, %[[UPDATED]]#2
func.func @step(%w: tensor<4xf32> {coll.role = "state", coll.name = "w"},
                %t: tensor<i32> {coll.role = "state", coll.name = "t"},
                %x: tensor<4xf32> {coll.role = "batch"}) -> (tensor<4xf32>, tensor<i32>) {
  %g = arith.mulf %w, %x : tensor<4xf32>
  %rate = arith.constant dense<0.1> : tensor<f32>
  %w1 = coll.root_update grad(%g : tensor<4xf32>) state(%w : tensor<4xf32>) factor(%rate : tensor<f32>) forward 1 {
  ^bb0(%ge: f32, %we: f32, %r: f32):
    %step = arith.mulf %ge, %r : f32
    %next = arith.subf %we, %step : f32
    coll.yield %next : f32
  }
  %one = arith.constant dense<1> : tensor<i32>
  %t1 = arith.addi %t, %one : tensor<i32>
  return %w1, %t1 : tensor<4xf32>, tensor<i32>
}
