// The state grows by the batch.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%state: tensor<2xf32>, %batch: tensor<2xf32>):
    %sum = "stablehlo.add"(%state, %batch) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%sum) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
