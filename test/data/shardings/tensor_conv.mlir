"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=4, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"tp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}, {}]>}], function_type = (tensor<3x3x4x8xf32>, tensor<3x3x8x4xf32>, tensor<8x16x16x4xf32>) -> (tensor<3x3x4x8xf32>, tensor<3x3x8x4xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['k1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"tp"}]>}, {jax.result_info = "result[0]['k2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"tp"}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<3x3x4x8xf32>, %arg2: tensor<3x3x8x4xf32>, %arg3: tensor<8x16x16x4xf32>):
    %3 = "stablehlo.convolution"(%arg3, %arg1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<8x16x16x4xf32>, tensor<3x3x4x8xf32>) -> tensor<8x16x16x8xf32>
    %4 = "func.call"(%3) <{callee = @relu}> : (tensor<8x16x16x8xf32>) -> tensor<8x16x16x8xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16x16x8xf32>
    %7 = "stablehlo.compare"(%3, %6) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x16x16x8xf32>, tensor<8x16x16x8xf32>) -> tensor<8x16x16x8xi1>
    %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16x16x8xf32>
    %10 = "sdy.sharding_constraint"(%4) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}, {"tp"}]>}> : (tensor<8x16x16x8xf32>) -> tensor<8x16x16x8xf32>
    %11 = "stablehlo.convolution"(%10, %arg2) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<8x16x16x8xf32>, tensor<3x3x8x4xf32>) -> tensor<8x16x16x4xf32>
    %12 = "stablehlo.multiply"(%11, %11) : (tensor<8x16x16x4xf32>, tensor<8x16x16x4xf32>) -> tensor<8x16x16x4xf32>
    %13 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16x16x4xf32>
    %15 = "stablehlo.multiply"(%14, %11) : (tensor<8x16x16x4xf32>, tensor<8x16x16x4xf32>) -> tensor<8x16x16x4xf32>
    %16 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.reduce"(%12, %16) <{dimensions = array<i64: 0, 1, 2, 3>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %41 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%41) : (tensor<f32>) -> ()
    }) : (tensor<8x16x16x4xf32>, tensor<f32>) -> tensor<f32>
    %18 = "stablehlo.constant"() <{value = dense<8.192000e+03> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.divide"(%17, %18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %20 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.constant"() <{value = dense<8.192000e+03> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.divide"(%20, %21) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16x16x4xf32>
    %24 = "stablehlo.multiply"(%23, %15) : (tensor<8x16x16x4xf32>, tensor<8x16x16x4xf32>) -> tensor<8x16x16x4xf32>
    %25 = "stablehlo.convolution"(%10, %24) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<8x16x16x8xf32>, tensor<8x16x16x4xf32>) -> tensor<3x3x8x4xf32>
    %26 = "stablehlo.reverse"(%arg2) <{dimensions = array<i64: 0, 1>}> : (tensor<3x3x8x4xf32>) -> tensor<3x3x8x4xf32>
    %27 = "stablehlo.convolution"(%24, %26) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<8x16x16x4xf32>, tensor<3x3x8x4xf32>) -> tensor<8x16x16x8xf32>
    %28 = "sdy.sharding_constraint"(%27) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}, {"tp"}]>}> : (tensor<8x16x16x8xf32>) -> tensor<8x16x16x8xf32>
    %29 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16x16x8xf32>
    %31 = "stablehlo.select"(%7, %28, %30) : (tensor<8x16x16x8xi1>, tensor<8x16x16x8xf32>, tensor<8x16x16x8xf32>) -> tensor<8x16x16x8xf32>
    %32 = "stablehlo.convolution"(%arg3, %31) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<8x16x16x4xf32>, tensor<8x16x16x8xf32>) -> tensor<3x3x4x8xf32>
    %33 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x4x8xf32>
    %35 = "stablehlo.multiply"(%34, %32) : (tensor<3x3x4x8xf32>, tensor<3x3x4x8xf32>) -> tensor<3x3x4x8xf32>
    %36 = "stablehlo.subtract"(%arg1, %35) : (tensor<3x3x4x8xf32>, tensor<3x3x4x8xf32>) -> tensor<3x3x4x8xf32>
    %37 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x8x4xf32>
    %39 = "stablehlo.multiply"(%38, %25) : (tensor<3x3x8x4xf32>, tensor<3x3x8x4xf32>) -> tensor<3x3x8x4xf32>
    %40 = "stablehlo.subtract"(%arg2, %39) : (tensor<3x3x8x4xf32>, tensor<3x3x8x4xf32>) -> tensor<3x3x8x4xf32>
    "func.return"(%36, %40, %19) : (tensor<3x3x4x8xf32>, tensor<3x3x8x4xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x16x16x8xf32>) -> tensor<8x16x16x8xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x16x16x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16x16x8xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<8x16x16x8xf32>, tensor<8x16x16x8xf32>) -> tensor<8x16x16x8xf32>
    "func.return"(%2) : (tensor<8x16x16x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
