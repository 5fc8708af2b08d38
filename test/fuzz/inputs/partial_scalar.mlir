func.func @step(%v0: tensor<6x4x3xi32> {coll.role = "batch"}) -> (tensor<4x4x3x6xi32>) {
  %v1 = "stablehlo.broadcast_in_dim"(%v0) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<6x4x3xi32>) -> (tensor<1x6x4x3xi32>)
  %v2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
  %v6 = "stablehlo.reduce"(%v1, %v2) <{dimensions = array<i64: 0, 1, 2, 3>}> ({
  ^bb0(%v3: tensor<i32>, %v4: tensor<i32>):
    %v5 = "stablehlo.add"(%v3, %v4) : (tensor<i32>, tensor<i32>) -> (tensor<i32>)
    "stablehlo.return"(%v5) : (tensor<i32>) -> ()
  }) : (tensor<1x6x4x3xi32>, tensor<i32>) -> (tensor<i32>)
  %v7 = "stablehlo.constant"() <{value = dense<1> : tensor<1x4x3x6xi32>}> : () -> (tensor<1x4x3x6xi32>)
  %v9 = "stablehlo.pad"(%v7, %v6) <{edge_padding_low = array<i64: 2, 0, 0, 0>, edge_padding_high = array<i64: 1, 0, 0, 0>, interior_padding = array<i64: 0, 0, 0, 0>}> : (tensor<1x4x3x6xi32>, tensor<i32>) -> (tensor<4x4x3x6xi32>)
  return %v9 : tensor<4x4x3x6xi32>
}
