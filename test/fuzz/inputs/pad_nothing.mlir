coll.mesh @mesh ["a" = 2]
func.func @step(%v9: tensor<3x12x0xi64> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[], [], []]>}) -> (tensor<6xi64>) {
  %v24 = "stablehlo.constant"() <{value = dense<-1> : tensor<i64>}> : () -> (tensor<i64>)
  %v25 = "stablehlo.pad"(%v9, %v24) <{edge_padding_low = array<i64: -1, 0, 2>, edge_padding_high = array<i64: 2, 0, -1>, interior_padding = array<i64: 1, 0, 0>}> : (tensor<3x12x0xi64>, tensor<i64>) -> (tensor<6x12x1xi64>)
  %v29 = "stablehlo.reduce"(%v25, %v24) <{dimensions = array<i64: 1, 2>}> ({
  ^bb0(%v26: tensor<i64>, %v27: tensor<i64>):
    %v28 = "stablehlo.maximum"(%v27, %v26) : (tensor<i64>, tensor<i64>) -> (tensor<i64>)
    "stablehlo.return"(%v28) : (tensor<i64>) -> ()
  }) : (tensor<6x12x1xi64>, tensor<i64>) -> (tensor<6xi64>)
  return %v29 : tensor<6xi64>
}
