coll.mesh @mesh ["a" = 5]
func.func @step(%v2: tensor<8xi32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[]]>}, %v6: tensor<4x0xi32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["a"], []]>}, %v7: tensor<8x4xi32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["a"], []]>}) -> (tensor<8xi32>) {
  %v11 = "stablehlo.scatter"(%v2, %v6, %v7) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [], scatter_dims_to_operand_dims = [], index_vector_dim = 1>, unique_indices = false, indices_are_sorted = false}> ({
  ^bb0(%v8: tensor<i32>, %v9: tensor<i32>):
    %v10 = "stablehlo.add"(%v8, %v9) : (tensor<i32>, tensor<i32>) -> (tensor<i32>)
    "stablehlo.return"(%v10) : (tensor<i32>) -> ()
  }) : (tensor<8xi32>, tensor<4x0xi32>, tensor<8x4xi32>) -> (tensor<8xi32>)
  %v14 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
  %v27, %v28, %v29 = "stablehlo.while"(%v2, %v11, %v14) ({
  ^bb0(%v15: tensor<8xi32>, %v16: tensor<8xi32>, %v17: tensor<i32>):
    %v18 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> (tensor<i32>)
    %v19 = "stablehlo.compare"(%v17, %v18) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> (tensor<i1>)
    "stablehlo.return"(%v19) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v20: tensor<8xi32>, %v21: tensor<8xi32>, %v22: tensor<i32>):
    "stablehlo.return"(%v21, %v2, %v22) : (tensor<8xi32>, tensor<8xi32>, tensor<i32>) -> ()
  }) : (tensor<8xi32>, tensor<8xi32>, tensor<i32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<i32>)
  return %v28 : tensor<8xi32>
}
