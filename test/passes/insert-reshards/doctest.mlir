// RUN: coll-opt %s --coll-propagate --coll-insert-reshards --verify-diagnostics | FileCheck %s

coll.mesh @m ["dp" = 4]

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>
func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>})
    -> tensor<8xf32> {
  // CHECK: %[[WHOLE:.*]] = coll.reshard %[[X]] from <@m, {{\[\["dp"\]\]}}> to <@m, {{\[\[\]\]}}>
  // CHECK-SAME: coll.why = "coll.sort needs dimension 0 whole"
  // CHECK: coll.sort %[[WHOLE]]
  // expected-remark@+1 {{needs dimension 0 of operand 'tensor<8xf32>' whole: gathered over "dp", 32 bytes; from here on 4 ranks do the same work (4 times the time of their own parts); to avoid it: --shard=}}
  %s = coll.sort %x dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<8xf32>
  return %s : tensor<8xf32>
}
