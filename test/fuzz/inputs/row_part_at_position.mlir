// One row at a computed position, three of its elements: rows and elements are split.
"sdy.mesh"() <{mesh = #sdy.mesh<["a"=4, "c"=2, "d"=2]>, sym_name = "mesh"}> : () -> ()
func.func @step(%v0: tensor<3x7xf32> {coll.role = "batch", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %v2: tensor<i32> {coll.role = "batch", sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<3x7xf32>) {
  %v8 = "stablehlo.case"(%v2) ({
  ^bb0():
    "stablehlo.return"(%v0) : (tensor<3x7xf32>) -> ()
  }, {
  ^bb0():
    "stablehlo.return"(%v0) : (tensor<3x7xf32>) -> ()
  }) : (tensor<i32>) -> (tensor<3x7xf32>)
  %v10 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> (tensor<i32>)
  %v13 = "stablehlo.constant"() <{value = dense<0.00000000e+00> : tensor<1x3xf32>}> : () -> (tensor<1x3xf32>)
  %v14 = "stablehlo.dynamic_update_slice"(%v8, %v13, %v2, %v10) : (tensor<3x7xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> (tensor<3x7xf32>)
  %v26 = "sdy.sharding_constraint"(%v14) <{sharding = #sdy.sharding<@mesh, [{"a"}, {"d", "c"}]>}> : (tensor<3x7xf32>) -> (tensor<3x7xf32>)
  return %v26 : tensor<3x7xf32>
}
