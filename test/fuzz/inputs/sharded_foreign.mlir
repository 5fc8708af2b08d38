coll.mesh @mesh ["a" = 2, "b" = 2]
func.func @step(%v1: tensor<1x4x6xi1> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[], ["a", "b"], []]>}) -> (tensor<1x4x6xi1>, tensor<1x4x6xf32>) {
  %v2 = "stablehlo.constant"() <{value = dense<1.0> : tensor<1x4x6xf32>}> : () -> (tensor<1x4x6xf32>)
  return %v1, %v2 : tensor<1x4x6xi1>, tensor<1x4x6xf32>
}
