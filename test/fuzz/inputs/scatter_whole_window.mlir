coll.mesh @mesh ["a" = 3]
func.func @step(%v0: tensor<5x3xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[], ["a"]]>}, %v11: tensor<1xi32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[]]>}) -> (tensor<5x3xf32>) {
  %v15 = "stablehlo.scatter"(%v0, %v11, %v0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], inserted_window_dims = [], scatter_dims_to_operand_dims = [1], index_vector_dim = 0>, unique_indices = false, indices_are_sorted = false}> ({
  ^bb0(%v12: tensor<f32>, %v13: tensor<f32>):
    %v14 = "stablehlo.add"(%v12, %v13) : (tensor<f32>, tensor<f32>) -> (tensor<f32>)
    "stablehlo.return"(%v14) : (tensor<f32>) -> ()
  }) : (tensor<5x3xf32>, tensor<1xi32>, tensor<5x3xf32>) -> (tensor<5x3xf32>)
  %v39 = "stablehlo.constant"() <{value = dense<-3.00000000e+00> : tensor<f32>}> : () -> (tensor<f32>)
  %v40 = "stablehlo.constant"() <{value = dense<3.00000000e+00> : tensor<f32>}> : () -> (tensor<f32>)
  %v41 = "stablehlo.clamp"(%v39, %v15, %v40) : (tensor<f32>, tensor<5x3xf32>, tensor<f32>) -> (tensor<5x3xf32>)
  return %v41 : tensor<5x3xf32>
}
