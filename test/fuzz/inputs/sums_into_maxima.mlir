coll.mesh @mesh ["a" = 2, "b" = 2]
func.func @step(%v0: tensor<4x3xi8> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[], []]>}, %v4: tensor<3x1xi32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["b"], []]>}, %v14: tensor<6x12x1xi32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["a", "b"] unit 3, [], []]>}) -> (tensor<4x3xi8>) {
  %v5 = "stablehlo.constant"() <{value = dense<0> : tensor<3x3xi8>}> : () -> (tensor<3x3xi8>)
  %v9 = "stablehlo.scatter"(%v0, %v4, %v5) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false, indices_are_sorted = false}> ({
  ^bb0(%v6: tensor<i8>, %v7: tensor<i8>):
    %v8 = "stablehlo.add"(%v6, %v7) : (tensor<i8>, tensor<i8>) -> (tensor<i8>)
    "stablehlo.return"(%v8) : (tensor<i8>) -> ()
  }) : (tensor<4x3xi8>, tensor<3x1xi32>, tensor<3x3xi8>) -> (tensor<4x3xi8>)
  %v15 = "stablehlo.constant"() <{value = dense<1> : tensor<3x6x12xi8>}> : () -> (tensor<3x6x12xi8>)
  %v19 = "stablehlo.scatter"(%v9, %v14, %v15) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false, indices_are_sorted = false}> ({
  ^bb0(%v16: tensor<i8>, %v17: tensor<i8>):
    %v18 = "stablehlo.maximum"(%v16, %v17) : (tensor<i8>, tensor<i8>) -> (tensor<i8>)
    "stablehlo.return"(%v18) : (tensor<i8>) -> ()
  }) : (tensor<4x3xi8>, tensor<6x12x1xi32>, tensor<3x6x12xi8>) -> (tensor<4x3xi8>)
  %v24 = "stablehlo.constant"() <{value = dense<-3> : tensor<i8>}> : () -> (tensor<i8>)
  %v25 = "stablehlo.constant"() <{value = dense<3> : tensor<i8>}> : () -> (tensor<i8>)
  %v26 = "stablehlo.clamp"(%v24, %v19, %v25) : (tensor<i8>, tensor<4x3xi8>, tensor<i8>) -> (tensor<4x3xi8>)
  return %v26 : tensor<4x3xi8>
}
