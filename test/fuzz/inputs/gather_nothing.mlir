coll.mesh @mesh ["a" = 2, "b" = 2]
func.func @step(%v2: tensor<3xi1> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[]]>}, %v4: tensor<5x4x0xi64> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["a"], [], []]>}, %v5: tensor<5x3x4xi1> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [[], [], ["a"]]>}) -> (tensor<3xi1>) {
  %v9 = "stablehlo.scatter"(%v2, %v4, %v5) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [], scatter_dims_to_operand_dims = [], index_vector_dim = 2>, unique_indices = false, indices_are_sorted = false}> ({
  ^bb0(%v6: tensor<i1>, %v7: tensor<i1>):
    %v8 = "stablehlo.or"(%v6, %v7) : (tensor<i1>, tensor<i1>) -> (tensor<i1>)
    "stablehlo.return"(%v8) : (tensor<i1>) -> ()
  }) : (tensor<3xi1>, tensor<5x4x0xi64>, tensor<5x3x4xi1>) -> (tensor<3xi1>)
  return %v9 : tensor<3xi1>
}
