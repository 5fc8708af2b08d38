// ranks: 8, state arguments: 0
"sdy.mesh"() <{mesh = #sdy.mesh<["a"=2, "b"=2, "c"=2]>, sym_name = "mesh"}> : () -> ()
func.func @step(%v1: tensor<6x2xf32> {coll.role = "batch", sdy.sharding = #sdy.sharding<@mesh, [{}, {"c"}]>}) -> (tensor<f16>) {
  %v3 = "stablehlo.constant"() <{value = dense<0.00000000e+00> : tensor<6x2xf16>}> : () -> (tensor<6x2xf16>)
  %v9, %v10 = "stablehlo.sort"(%v3, %v1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%v4: tensor<f16>, %v5: tensor<f16>, %v6: tensor<f32>, %v7: tensor<f32>):
    %v8 = "stablehlo.compare"(%v6, %v7) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> (tensor<i1>)
    "stablehlo.return"(%v8) : (tensor<i1>) -> ()
  }) : (tensor<6x2xf16>, tensor<6x2xf32>) -> (tensor<6x2xf16>, tensor<6x2xf32>)
  %v11 = "stablehlo.reshape"(%v9) : (tensor<6x2xf16>) -> (tensor<6x1x2xf16>)
  %v12 = "stablehlo.constant"() <{value = dense<0.00000000e+00> : tensor<6x1x2xf16>}> : () -> (tensor<6x1x2xf16>)
  %v19 = "stablehlo.constant"() <{value = dense<0.00000000e+00> : tensor<f16>}> : () -> (tensor<f16>)
  %v20 = "stablehlo.select_and_scatter"(%v11, %v12, %v19) <{window_dimensions = array<i64: 1, 1, 2>, window_strides = array<i64: 1, 1, 2>, padding = dense<[[0, 0], [0, 0], [1, 1]]> : tensor<3x2xi64>}> ({
  ^bb0(%v13: tensor<f16>, %v14: tensor<f16>):
    %v15 = "stablehlo.compare"(%v13, %v14) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f16>, tensor<f16>) -> (tensor<i1>)
    "stablehlo.return"(%v15) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v16: tensor<f16>, %v17: tensor<f16>):
    %v18 = "stablehlo.add"(%v17, %v16) : (tensor<f16>, tensor<f16>) -> (tensor<f16>)
    "stablehlo.return"(%v18) : (tensor<f16>) -> ()
  }) : (tensor<6x1x2xf16>, tensor<6x1x2xf16>, tensor<f16>) -> (tensor<6x1x2xf16>)
  %v25 = "stablehlo.reduce"(%v20, %v19) <{dimensions = array<i64: 0, 1, 2>}> ({
  ^bb0(%v22: tensor<f16>, %v23: tensor<f16>):
    %v24 = "stablehlo.add"(%v22, %v23) : (tensor<f16>, tensor<f16>) -> (tensor<f16>)
    "stablehlo.return"(%v24) : (tensor<f16>) -> ()
  }) : (tensor<6x1x2xf16>, tensor<f16>) -> (tensor<f16>)
  return %v25 : tensor<f16>
}
