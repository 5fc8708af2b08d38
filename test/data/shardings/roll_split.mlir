"builtin.module"() <{sym_name = "jit_roll_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=8]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 8 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}], function_type = (tensor<64x16xf32>, tensor<8xf32>) -> (tensor<64x16xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['x']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg2: tensor<64x16xf32>, %arg3: tensor<8xf32>):
    %6 = "func.call"(%arg2) <{callee = @_roll_static}> : (tensor<64x16xf32>) -> tensor<64x16xf32>
    %7 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x16xf32>
    %9 = "stablehlo.multiply"(%8, %6) : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
    %10 = "func.call"(%arg2) <{callee = @_roll_static_0}> : (tensor<64x16xf32>) -> tensor<64x16xf32>
    %11 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x16xf32>
    %13 = "stablehlo.multiply"(%12, %10) : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
    %14 = "stablehlo.add"(%9, %13) : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%arg3, %15) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %19 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%19) : (tensor<f32>) -> ()
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %17 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.divide"(%16, %17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%14, %18) : (tensor<64x16xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x16xf32>) -> tensor<64x16xf32>, res_attrs = [{}], sym_name = "_roll_static", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<64x16xf32>):
    %3 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 64, 16>, start_indices = array<i64: 63, 0>, strides = array<i64: 1, 1>}> : (tensor<64x16xf32>) -> tensor<1x16xf32>
    %4 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 63, 16>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<64x16xf32>) -> tensor<63x16xf32>
    %5 = "stablehlo.concatenate"(%3, %4) <{dimension = 0 : i64}> : (tensor<1x16xf32>, tensor<63x16xf32>) -> tensor<64x16xf32>
    "func.return"(%5) : (tensor<64x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x16xf32>) -> tensor<64x16xf32>, res_attrs = [{}], sym_name = "_roll_static_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64x16xf32>):
    %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 64, 16>, start_indices = array<i64: 2, 0>, strides = array<i64: 1, 1>}> : (tensor<64x16xf32>) -> tensor<62x16xf32>
    %1 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 2, 16>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<64x16xf32>) -> tensor<2x16xf32>
    %2 = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<62x16xf32>, tensor<2x16xf32>) -> tensor<64x16xf32>
    "func.return"(%2) : (tensor<64x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
