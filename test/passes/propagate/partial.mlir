// RUN: coll-opt %s --split-input-file --coll-propagate | FileCheck %s

// Two partial values add up to a partial value.
// CHECK-LABEL: @two_partials
// CHECK: arith.addf {{.*}} partial sum ["dp"]
module @two_partials {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %y: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<4xf32> {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
    %b = linalg.reduce { arith.addf } ins(%y : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
    %s = arith.addf %a, %b : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// A square is not linear: the sum is combined before it.
// CHECK-LABEL: @square
// CHECK: arith.mulf {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}>]}
module @square {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<4xf32> {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
    %s = arith.mulf %a, %a : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// Where one use needs the value combined, the others use the combined value too.
// CHECK-LABEL: @shared
// CHECK: arith.negf {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}>]}
// CHECK: math.exp {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}>]}
module @shared {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> (tensor<4xf32>, tensor<4xf32>) {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
    %n = arith.negf %a : tensor<4xf32>
    %e = math.exp %a : tensor<4xf32>
    return %n, %e : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A broadcast would make the combination dearer: it happens before.
// CHECK-LABEL: @broadcast
// CHECK: linalg.broadcast
// CHECK-NOT: partial
// CHECK: return
module @broadcast {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<8x4xf32> {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %empty = tensor.empty() : tensor<8x4xf32>
    %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
    %b = linalg.broadcast ins(%a : tensor<4xf32>) outs(%empty : tensor<8x4xf32>) dimensions = [0]
    return %b : tensor<8x4xf32>
  }
}

// -----

// A maximum is partial by max, and passes through nothing.
// CHECK-LABEL: @maximum
// CHECK: linalg.reduce {{.*}} partial max ["dp"]
// CHECK: arith.negf {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}>]}
module @maximum {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<4xf32> {
    %low = arith.constant dense<0xFF800000> : tensor<4xf32>
    %a = linalg.reduce { arith.maximumf } ins(%x : tensor<8x4xf32>) outs(%low : tensor<4xf32>) dimensions = [0]
    %n = arith.negf %a : tensor<4xf32>
    return %n : tensor<4xf32>
  }
}
