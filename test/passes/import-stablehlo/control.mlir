// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --coll-import-stablehlo | FileCheck %s

// CHECK-LABEL: @step
// CHECK-SAME: %[[N:.*]]: tensor<i32> {{.*}}, %[[X:.*]]: tensor<4xf32>
// CHECK: %[[R:.*]]:2 = scf.while (%[[I:.*]] = %{{.*}}, %[[A:.*]] = %[[X]])
// CHECK: %[[LT:.*]] = arith.cmpi slt, %[[I]], %[[N]] : tensor<i32>
// CHECK: %[[GOES:.*]] = tensor.extract %[[LT]][]
// CHECK: scf.condition(%[[GOES]]) %[[I]], %[[A]]
// CHECK: ^bb0(%[[J:.*]]: tensor<i32>, %[[B:.*]]: tensor<4xf32>):
// CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %[[J]]
// CHECK: scf.yield %[[NEXT]], %[[B]]
// CHECK: return %[[R]]#1
func.func @main(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%c, %x) ({
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %1 = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %1 = "stablehlo.add"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%1, %a) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// -----

// What has no elements is carried as what has some.
// CHECK-LABEL: @step
// CHECK: scf.while
// CHECK: scf.yield
// CHECK: tensor.empty() : tensor<2x0xf32>
// CHECK: return
func.func @main(%p: tensor<i1>, %e: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %0:2 = "stablehlo.while"(%p, %e) ({
  ^bb0(%i: tensor<i1>, %a: tensor<2x0xf32>):
    "stablehlo.return"(%i) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i1>, %a: tensor<2x0xf32>):
    %1 = "stablehlo.not"(%i) : (tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%1, %a) : (tensor<i1>, tensor<2x0xf32>) -> ()
  }) : (tensor<i1>, tensor<2x0xf32>) -> (tensor<i1>, tensor<2x0xf32>)
  return %0#1 : tensor<2x0xf32>
}

// -----

// CHECK-LABEL: @step
// CHECK-SAME: %[[P:.*]]: tensor<i1> {{.*}}, %[[X:.*]]: tensor<4xf32>
// CHECK: %[[C:.*]] = tensor.extract %[[P]][]
// CHECK: scf.if %[[C]] -> (tensor<4xf32>) {
// CHECK-NEXT: scf.yield %[[X]]
// CHECK: else
// CHECK: arith.negf %[[X]]
func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }, {
    %1 = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// An index out of range takes the last branch.
// CHECK-LABEL: @step
// CHECK: %[[I:.*]] = tensor.extract
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[IS0:.*]] = arith.cmpi eq, %[[I]], %[[ZERO]]
// CHECK: %[[R:.*]] = scf.if %[[IS0]]
// CHECK: else
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[IS1:.*]] = arith.cmpi eq, %[[I]], %[[ONE]]
// CHECK: %[[INNER:.*]] = scf.if %[[IS1]]
// CHECK: arith.negf
// CHECK: else
// CHECK: math.sin
// CHECK: scf.yield %[[INNER]]
// CHECK: return %[[R]]
func.func @main(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.case"(%i) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }, {
    %1 = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }, {
    %1 = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A composite is its decomposition; a barrier and a sharding hint are nothing.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[R:.*]] = math.cos %[[X]]
// CHECK-NEXT: return %[[R]]
// CHECK-NOT: func.func
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.composite"(%x) <{name = "some.name", decomposition = @f}> : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = "stablehlo.optimization_barrier"(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = "stablehlo.custom_call"(%1#0) <{call_target_name = "Sharding"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.cosine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
