coll.mesh @mesh ["a" = 3]
func.func @step() -> (tensor<3x1xbf16>) {
  %v6 = "stablehlo.constant"() <{value = dense<1.0> : tensor<3x3x0x1xbf16>}> : () -> (tensor<3x3x0x1xbf16>)
  %v7 = "stablehlo.constant"() <{value = dense<5.00000000e-01> : tensor<bf16>}> : () -> (tensor<bf16>)
  %v11 = "stablehlo.reduce"(%v6, %v7) <{dimensions = array<i64: 1, 2>}> ({
  ^bb0(%v8: tensor<bf16>, %v9: tensor<bf16>):
    %v10 = "stablehlo.maximum"(%v8, %v9) : (tensor<bf16>, tensor<bf16>) -> (tensor<bf16>)
    "stablehlo.return"(%v10) : (tensor<bf16>) -> ()
  }) : (tensor<3x3x0x1xbf16>, tensor<bf16>) -> (tensor<3x1xbf16>)
  %v19 = "stablehlo.round_nearest_afz"(%v11) : (tensor<3x1xbf16>) -> (tensor<3x1xbf16>)
  return %v19 : tensor<3x1xbf16>
}
