"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2x3xi32>, tensor<2x3xf32>), sym_name = "main"}> ({
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>
    %1 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2x3xf32>
  }) : () -> ()
}) : () -> ()
