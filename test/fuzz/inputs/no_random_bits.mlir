func.func @step() -> (tensor<2xui64>) {
  %v33 = "stablehlo.constant"() <{value = dense<0> : tensor<2xui64>}> : () -> (tensor<2xui64>)
  %v34, %v35 = "stablehlo.rng_bit_generator"(%v33) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x0xui8>)
  return %v34 : tensor<2xui64>
}
