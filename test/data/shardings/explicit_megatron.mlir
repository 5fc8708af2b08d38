"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=4, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<64x256xf32>, %arg2: tensor<256x64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<64x64xf32>):
    %5 = "stablehlo.dot_general"(%arg3, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %6 = "sdy.sharding_constraint"(%5) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %7 = "func.call"(%6) <{callee = @relu}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %10 = "sdy.sharding_constraint"(%9) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %11 = "stablehlo.compare"(%6, %10) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xi1>
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %14 = "sdy.sharding_constraint"(%13) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %15 = "stablehlo.dot_general"(%7, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
    %16 = "sdy.sharding_constraint"(%15) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %17 = "stablehlo.subtract"(%16, %arg4) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %18 = "sdy.sharding_constraint"(%17) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %19 = "stablehlo.multiply"(%18, %18) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %20 = "sdy.sharding_constraint"(%19) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %21 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %23 = "sdy.sharding_constraint"(%22) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %24 = "stablehlo.multiply"(%23, %18) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %25 = "sdy.sharding_constraint"(%24) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.reduce"(%20, %26) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %72 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%72) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
    %28 = "sdy.sharding_constraint"(%27) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<f32>) -> tensor<f32>
    %29 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %30 = "sdy.sharding_constraint"(%29) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<f32>) -> tensor<f32>
    %31 = "stablehlo.divide"(%28, %30) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %32 = "sdy.sharding_constraint"(%31) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<f32>) -> tensor<f32>
    %33 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %34 = "sdy.sharding_constraint"(%33) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<f32>) -> tensor<f32>
    %35 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %36 = "sdy.sharding_constraint"(%35) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<f32>) -> tensor<f32>
    %37 = "stablehlo.divide"(%34, %36) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %38 = "sdy.sharding_constraint"(%37) <{sharding = #sdy.sharding<@mesh, []>}> : (tensor<f32>) -> tensor<f32>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %40 = "sdy.sharding_constraint"(%39) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %41 = "stablehlo.multiply"(%40, %25) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %42 = "sdy.sharding_constraint"(%41) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %43 = "stablehlo.dot_general"(%42, %7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %44 = "sdy.sharding_constraint"(%43) <{sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %45 = "stablehlo.transpose"(%44) <{permutation = array<i64: 1, 0>}> : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %46 = "sdy.sharding_constraint"(%45) <{sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}> : (tensor<256x64xf32>) -> tensor<256x64xf32>
    %47 = "stablehlo.dot_general"(%42, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<256x64xf32>) -> tensor<64x256xf32>
    %48 = "sdy.sharding_constraint"(%47) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %49 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %51 = "sdy.sharding_constraint"(%50) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %52 = "stablehlo.select"(%11, %48, %51) : (tensor<64x256xi1>, tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %53 = "sdy.sharding_constraint"(%52) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %54 = "stablehlo.dot_general"(%53, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
    %55 = "sdy.sharding_constraint"(%54) <{sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}> : (tensor<256x64xf32>) -> tensor<256x64xf32>
    %56 = "stablehlo.transpose"(%55) <{permutation = array<i64: 1, 0>}> : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %57 = "sdy.sharding_constraint"(%56) <{sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %58 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %60 = "sdy.sharding_constraint"(%59) <{sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %61 = "stablehlo.multiply"(%60, %57) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %62 = "sdy.sharding_constraint"(%61) <{sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %63 = "stablehlo.subtract"(%arg1, %62) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %64 = "sdy.sharding_constraint"(%63) <{sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %65 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %67 = "sdy.sharding_constraint"(%66) <{sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}> : (tensor<256x64xf32>) -> tensor<256x64xf32>
    %68 = "stablehlo.multiply"(%67, %46) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %69 = "sdy.sharding_constraint"(%68) <{sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}> : (tensor<256x64xf32>) -> tensor<256x64xf32>
    %70 = "stablehlo.subtract"(%arg2, %69) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %71 = "sdy.sharding_constraint"(%70) <{sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}> : (tensor<256x64xf32>) -> tensor<256x64xf32>
    "func.return"(%64, %71, %32) : (tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x256xf32>) -> tensor<64x256xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64x256xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %2 = "sdy.sharding_constraint"(%1) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %3 = "stablehlo.maximum"(%arg0, %2) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %4 = "sdy.sharding_constraint"(%3) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    "func.return"(%4) : (tensor<64x256xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
