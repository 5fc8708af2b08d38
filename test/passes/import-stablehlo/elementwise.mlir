// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --coll-import-stablehlo | FileCheck %s

// Sums and products of i1 are "or" and "and".
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<4xi1>
// CHECK: %[[SUM:.*]] = arith.ori %[[X]], %[[X]] : tensor<4xi1>
// CHECK: arith.andi %[[SUM]], %[[X]] : tensor<4xi1>
func.func @main(%x: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  %0 = "stablehlo.add"(%x, %x) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %1 = "stablehlo.multiply"(%0, %x) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// -----

// Unsigned types become signless; the operations keep the sign.
// CHECK-LABEL: @step
// CHECK: arith.maxui %{{.*}} : tensor<4xi32>
// CHECK: arith.maxsi %{{.*}} : tensor<4xi32>
// CHECK: arith.cmpi ult, %{{.*}} : tensor<4xi32>
func.func @main(%x: tensor<4xui32>, %y: tensor<4xi32>) -> (tensor<4xui32>, tensor<4xi32>, tensor<4xi1>) {
  %0 = "stablehlo.maximum"(%x, %x) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %1 = "stablehlo.maximum"(%y, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %2 = "stablehlo.compare"(%0, %x) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  return %0, %1, %2 : tensor<4xui32>, tensor<4xi32>, tensor<4xi1>
}

// -----

// A division by an unknown value must not trap.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<4xi32> {{.*}}, %[[Y:.*]]: tensor<4xi32>
// CHECK: %[[IS_ZERO:.*]] = arith.cmpi eq, %[[Y]], %{{.*}}
// CHECK: %[[TRAPS:.*]] = arith.ori %[[IS_ZERO]], %{{.*}}
// CHECK: %[[SAFE:.*]] = arith.select %[[TRAPS]], %{{.*}}, %[[Y]]
// CHECK: %[[QUOTIENT:.*]] = arith.divsi %[[X]], %[[SAFE]]
// CHECK: %[[ALL_ONES:.*]] = arith.constant dense<-1>
// CHECK: arith.select %[[IS_ZERO]], %[[ALL_ONES]], %[[QUOTIENT]]
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.divide"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// By a constant that cannot trap it is one operation.
// CHECK-LABEL: @step
// CHECK: arith.remsi
// CHECK-NEXT: return
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %c = "stablehlo.constant"() <{value = dense<3> : tensor<4xi32>}> : () -> tensor<4xi32>
  %0 = "stablehlo.remainder"(%x, %c) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Shifts past the width give 0.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<4xi32> {{.*}}, %[[N:.*]]: tensor<4xi32>
// CHECK: %[[IN_RANGE:.*]] = arith.cmpi ule, %[[N]], %{{.*}}
// CHECK: %[[SAFE:.*]] = arith.select %[[IN_RANGE]], %[[N]], %{{.*}}
// CHECK: %[[SHIFTED:.*]] = arith.shrui %[[X]], %[[SAFE]]
// CHECK: arith.select %[[IN_RANGE]], %[[SHIFTED]], %{{.*}}
func.func @main(%x: tensor<4xui32>, %n: tensor<4xui32>) -> tensor<4xui32> {
  %0 = "stablehlo.shift_right_logical"(%x, %n) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

// CHECK-LABEL: @step
// CHECK: arith.shli
// CHECK-NEXT: return
func.func @main(%x: tensor<4xui32>) -> tensor<4xui32> {
  %c = "stablehlo.constant"() <{value = dense<13> : tensor<4xui32>}> : () -> tensor<4xui32>
  %0 = "stablehlo.shift_left"(%x, %c) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

// Floats saturate on their way to integers, and NaN becomes 0.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[IN_RANGE:.*]] = arith.andi
// CHECK: %[[SAFE:.*]] = arith.select %[[IN_RANGE]], %[[X]], %{{.*}}
// CHECK: %[[INT:.*]] = arith.fptosi %[[SAFE]]
// CHECK: %[[MAX:.*]] = arith.constant dense<2147483647>
// CHECK: %[[CAPPED:.*]] = arith.select %{{.*}}, %[[MAX]], %[[INT]]
// CHECK: %[[MIN:.*]] = arith.constant dense<-2147483648>
// CHECK: arith.select %{{.*}}, %[[MIN]], %[[CAPPED]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = "stablehlo.convert"(%x) : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// The source's sign decides how integers widen; i1 holds 0 and 1.
// CHECK-LABEL: @step
// CHECK: arith.uitofp %{{.*}} : tensor<4xi1> to tensor<4xf32>
// CHECK: arith.extsi %{{.*}} : tensor<4xi8> to tensor<4xi32>
// CHECK: arith.extui %{{.*}} : tensor<4xi8> to tensor<4xi32>
func.func @main(%x: tensor<4xi1>, %y: tensor<4xi8>, %z: tensor<4xui8>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  %0 = "stablehlo.convert"(%x) : (tensor<4xi1>) -> tensor<4xf32>
  %1 = "stablehlo.convert"(%y) : (tensor<4xi8>) -> tensor<4xi32>
  %2 = "stablehlo.convert"(%z) : (tensor<4xui8>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}

// -----

// NaN is unequal to everything, itself included.
// CHECK-LABEL: @step
// CHECK: arith.cmpf une
func.func @main(%x: tensor<4xf32>) -> tensor<4xi1> {
  %0 = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// A scalar predicate is broadcast, and so are scalar bounds.
// CHECK-LABEL: @step
// CHECK-SAME: %[[P:.*]]: tensor<i1> {{.*}}, %[[LO:.*]]: tensor<f32> {{.*}}, %[[X:.*]]: tensor<4xf32> {{.*}}, %[[Y:.*]]: tensor<4xf32>
// CHECK: %[[PS:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<i1>)
// CHECK: %[[CHOICE:.*]] = arith.select %[[PS]], %[[X]], %[[Y]] : tensor<4xi1>, tensor<4xf32>
// CHECK: %[[LOS:.*]] = linalg.generic {{.*}} ins(%[[LO]] : tensor<f32>)
// CHECK: %[[RAISED:.*]] = arith.maximumf %[[CHOICE]], %[[LOS]]
// CHECK: arith.minimumf %[[RAISED]], %[[Y]]
func.func @main(%p: tensor<i1>, %lo: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.select"(%p, %x, %y) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.clamp"(%lo, %0, %y) : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// NaN and signed zeros pass through the sign.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[NON_ZERO:.*]] = arith.cmpf one, %[[X]], %{{.*}}
// CHECK: %[[UNIT:.*]] = math.copysign %{{.*}}, %[[X]]
// CHECK: arith.select %[[NON_ZERO]], %[[UNIT]], %[[X]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.sign"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The parts of a wide element are the last dimension, low bits first.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<2x4xi8> {{.*}}, %[[Y:.*]]: tensor<2xf32>
// CHECK: %[[PART0:.*]] = tensor.extract_slice %[[X]][0, 0] [2, 1] [1, 1] : tensor<2x4xi8> to tensor<2xi8>
// CHECK: %[[LOW:.*]] = arith.extui %[[PART0]]
// CHECK: %[[PART1:.*]] = tensor.extract_slice %[[X]][0, 1]
// CHECK: %[[HIGH:.*]] = arith.shli
// CHECK: arith.ori %[[LOW]], %[[HIGH]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[Y]] : tensor<2xf32> to tensor<2xi32>
// CHECK: linalg.generic {{.*}} ins(%[[BITS]] : tensor<2xi32>) outs(%{{.*}} : tensor<2x2xi16>)
// CHECK: arith.shrui
// CHECK: arith.trunci %{{.*}} : i32 to i16
func.func @main(%x: tensor<2x4xui8>, %y: tensor<2xf32>) -> (tensor<2xui32>, tensor<2x2xui16>) {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<2x4xui8>) -> tensor<2xui32>
  %1 = "stablehlo.bitcast_convert"(%y) : (tensor<2xf32>) -> tensor<2x2xui16>
  return %0, %1 : tensor<2xui32>, tensor<2x2xui16>
}

// -----

// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: arith.mulf %[[X]], %[[X]]
// CHECK: arith.cmpf olt
// CHECK: math.erf
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xf32>) {
  %0 = "chlo.square"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.is_finite"(%0) : (tensor<4xf32>) -> tensor<4xi1>
  %2 = "chlo.erf"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xi1>, tensor<4xf32>
}
