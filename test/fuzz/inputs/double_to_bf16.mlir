func.func @step(%v0: tensor<3xf64> {coll.role = "batch"}) -> (tensor<6xbf16>) {
  %v5 = "stablehlo.concatenate"(%v0, %v0) <{dimension = 0 : i64}> : (tensor<3xf64>, tensor<3xf64>) -> (tensor<6xf64>)
  %v6 = "stablehlo.convert"(%v5) : (tensor<6xf64>) -> (tensor<6xbf16>)
  return %v6 : tensor<6xbf16>
}
