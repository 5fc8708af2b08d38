"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=4, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<64x256xf32>, %arg2: tensor<256x64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<64x64xf32>):
    %3 = "stablehlo.dot_general"(%arg3, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %4 = "sdy.sharding_constraint"(%3) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %5 = "func.call"(%4) <{callee = @relu}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %6 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %8 = "stablehlo.compare"(%4, %7) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xi1>
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %11 = "stablehlo.dot_general"(%5, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
    %12 = "sdy.sharding_constraint"(%11) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %13 = "stablehlo.subtract"(%12, %arg4) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %14 = "stablehlo.multiply"(%13, %13) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %15 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %17 = "stablehlo.multiply"(%16, %13) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %18 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.reduce"(%14, %18) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %45 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%45) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
    %20 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.divide"(%19, %20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %22 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.divide"(%22, %23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %26 = "stablehlo.multiply"(%25, %17) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %27 = "sdy.sharding_constraint"(%26) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %28 = "stablehlo.dot_general"(%27, %5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %29 = "stablehlo.transpose"(%28) <{permutation = array<i64: 1, 0>}> : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %30 = "stablehlo.dot_general"(%27, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<256x64xf32>) -> tensor<64x256xf32>
    %31 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %33 = "stablehlo.select"(%8, %30, %32) : (tensor<64x256xi1>, tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %34 = "sdy.sharding_constraint"(%33) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %35 = "stablehlo.dot_general"(%34, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
    %36 = "stablehlo.transpose"(%35) <{permutation = array<i64: 1, 0>}> : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %37 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %39 = "stablehlo.multiply"(%38, %36) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %40 = "stablehlo.subtract"(%arg1, %39) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %41 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %43 = "stablehlo.multiply"(%42, %29) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %44 = "stablehlo.subtract"(%arg2, %43) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    "func.return"(%40, %44, %21) : (tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x256xf32>) -> tensor<64x256xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64x256xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    "func.return"(%2) : (tensor<64x256xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
