coll.mesh @mesh ["a" = 2]
func.func @step(%v0: tensor<3xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["a"]]>}) -> (tensor<3xf32>, tensor<4x2x0xi32>) {
  %v2 = "stablehlo.constant"() <{value = dense<3> : tensor<4x2x0xi32>}> : () -> (tensor<4x2x0xi32>)
  %v4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
  %v24, %v25, %v26 = "stablehlo.while"(%v4, %v2, %v0) ({
  ^bb0(%v5: tensor<i32>, %v6: tensor<4x2x0xi32>, %v7: tensor<3xf32>):
    %v9 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> (tensor<i32>)
    %v10 = "stablehlo.compare"(%v5, %v9) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> (tensor<i1>)
    "stablehlo.return"(%v10) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v11: tensor<i32>, %v12: tensor<4x2x0xi32>, %v13: tensor<3xf32>):
    %v14 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> (tensor<i32>)
    %v15 = "stablehlo.add"(%v11, %v14) : (tensor<i32>, tensor<i32>) -> (tensor<i32>)
    %v16 = "stablehlo.add"(%v13, %v0) : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>)
    "stablehlo.return"(%v15, %v12, %v16) : (tensor<i32>, tensor<4x2x0xi32>, tensor<3xf32>) -> ()
  }) : (tensor<i32>, tensor<4x2x0xi32>, tensor<3xf32>) -> (tensor<i32>, tensor<4x2x0xi32>, tensor<3xf32>)
  %v28, %v29 = "stablehlo.case"(%v24) ({
    "stablehlo.return"(%v25, %v26) : (tensor<4x2x0xi32>, tensor<3xf32>) -> ()
  }, {
    "stablehlo.return"(%v2, %v0) : (tensor<4x2x0xi32>, tensor<3xf32>) -> ()
  }, {
    "stablehlo.return"(%v25, %v26) : (tensor<4x2x0xi32>, tensor<3xf32>) -> ()
  }) : (tensor<i32>) -> (tensor<4x2x0xi32>, tensor<3xf32>)
  return %v29, %v28 : tensor<3xf32>, tensor<4x2x0xi32>
}
