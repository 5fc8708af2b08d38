// RUN: coll-opt %s --coll-propagate --coll-insert-reshards --verify-diagnostics | FileCheck %s

coll.mesh @m ["dp" = 4]

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>
func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>})
    -> tensor<4xf32> {
  // CHECK: %[[WHOLE:.*]] = coll.reshard %[[X]] from <@m, {{\[\["dp"\]\]}}> to <@m, {{\[\[\]\]}}>
  // CHECK-SAME: coll.why = "tensor.extract_slice needs dimension 0 whole"
  // CHECK: tensor.extract_slice %[[WHOLE]]
  // expected-remark@+1 {{needs dimension 0 of operand 'tensor<8xf32>' whole: gathered over "dp", 32 bytes}}
  %s = tensor.extract_slice %x[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %s : tensor<4xf32>
}
