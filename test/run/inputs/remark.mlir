// A step whose state is known by its types, with a batch argument of another length.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<4xf32>, tensor<3xf32>), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%state: tensor<4xf32>, %batch: tensor<4xf32>, %other: tensor<3xf32>):
    %sum = "stablehlo.add"(%state, %batch) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %twice = "stablehlo.add"(%other, %other) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%sum, %twice) : (tensor<4xf32>, tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
