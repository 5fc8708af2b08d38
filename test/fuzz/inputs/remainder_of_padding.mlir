coll.mesh @mesh ["a" = 2, "b" = 1, "c" = 2]
func.func @step(%v0: tensor<4x3x4x9xi32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[], [], [], ["b"] unit 4]>}) -> (tensor<4x3x4x9xi32>, tensor<4x3x4x9xi32>) {
  %v1 = "stablehlo.constant"() <{value = dense<-2> : tensor<4x3x4x9xi32>}> : () -> (tensor<4x3x4x9xi32>)
  %v2 = "stablehlo.remainder"(%v0, %v1) : (tensor<4x3x4x9xi32>, tensor<4x3x4x9xi32>) -> (tensor<4x3x4x9xi32>)
  return %v1, %v2 : tensor<4x3x4x9xi32>, tensor<4x3x4x9xi32>
}
