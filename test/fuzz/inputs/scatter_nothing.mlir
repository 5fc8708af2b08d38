coll.mesh @mesh ["a" = 3]
func.func @step(%v1: tensor<5x8x7xf16> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[], [], []]>}) -> (tensor<5x8x7xf16>) {
  %v4 = "stablehlo.constant"() <{value = dense<-1> : tensor<3x0x2xi64>}> : () -> (tensor<3x0x2xi64>)
  %v5 = "stablehlo.constant"() <{value = dense<3.00000000e+00> : tensor<3x0x7xf16>}> : () -> (tensor<3x0x7xf16>)
  %v9 = "stablehlo.scatter"(%v1, %v4, %v5) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, unique_indices = false, indices_are_sorted = false}> ({
  ^bb0(%v6: tensor<f16>, %v7: tensor<f16>):
    %v8 = "stablehlo.maximum"(%v6, %v7) : (tensor<f16>, tensor<f16>) -> (tensor<f16>)
    "stablehlo.return"(%v8) : (tensor<f16>) -> ()
  }) : (tensor<5x8x7xf16>, tensor<3x0x2xi64>, tensor<3x0x7xf16>) -> (tensor<5x8x7xf16>)
  return %v9 : tensor<5x8x7xf16>
}
