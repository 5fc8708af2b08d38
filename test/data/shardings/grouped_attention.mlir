"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=4, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}], function_type = (tensor<64x32xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x32xf32>, tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> (tensor<64x32xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x32xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[0]['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {jax.result_info = "result[0]['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[0]['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<64x32xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<64x64xf32>, %arg3: tensor<64x32xf32>, %arg4: tensor<16x32x64xf32>, %arg5: tensor<16x32x64xf32>):
    %0 = "stablehlo.dot_general"(%arg4, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %1 = "stablehlo.reshape"(%0) : (tensor<16x32x64xf32>) -> tensor<16x32x2x2x16xf32>
    %2 = "stablehlo.dot_general"(%arg4, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x32xf32>) -> tensor<16x32x32xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<16x32x32xf32>) -> tensor<16x32x2x16xf32>
    %4 = "stablehlo.dot_general"(%arg4, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x32xf32>) -> tensor<16x32x32xf32>
    %5 = "stablehlo.reshape"(%4) : (tensor<16x32x32xf32>) -> tensor<16x32x2x16xf32>
    %6 = "stablehlo.dot_general"(%3, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [4]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x2x16xf32>, tensor<16x32x2x2x16xf32>) -> tensor<16x2x32x32x2xf32>
    %7 = "stablehlo.transpose"(%6) <{permutation = array<i64: 0, 1, 4, 3, 2>}> : (tensor<16x2x32x32x2xf32>) -> tensor<16x2x2x32x32xf32>
    %8 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.reduce"(%7, %8) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %122 = "stablehlo.maximum"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%122) : (tensor<f32>) -> ()
    }) : (tensor<16x2x2x32x32xf32>, tensor<f32>) -> tensor<16x2x2x32xf32>
    %10 = "stablehlo.reshape"(%9) : (tensor<16x2x2x32xf32>) -> tensor<16x2x2x32x1xf32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<16x2x2x32x1xf32>) -> tensor<16x2x2x32x32xf32>
    %12 = "stablehlo.compare"(%7, %11) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x2x2x32x32xf32>, tensor<16x2x2x32x32xf32>) -> tensor<16x2x2x32x32xi1>
    %13 = "stablehlo.convert"(%12) : (tensor<16x2x2x32x32xi1>) -> tensor<16x2x2x32x32xf32>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.reduce"(%13, %14) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %121 = "stablehlo.add"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%121) : (tensor<f32>) -> ()
    }) : (tensor<16x2x2x32x32xf32>, tensor<f32>) -> tensor<16x2x2x32xf32>
    %16 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x2x2x32xf32>
    %18 = "stablehlo.maximum"(%17, %9) : (tensor<16x2x2x32xf32>, tensor<16x2x2x32xf32>) -> tensor<16x2x2x32xf32>
    %19 = "stablehlo.compare"(%9, %18) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x2x2x32xf32>, tensor<16x2x2x32xf32>) -> tensor<16x2x2x32xi1>
    %20 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x2x2x32xf32>
    %22 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x2x2x32xf32>
    %24 = "stablehlo.select"(%19, %21, %23) : (tensor<16x2x2x32xi1>, tensor<16x2x2x32xf32>, tensor<16x2x2x32xf32>) -> tensor<16x2x2x32xf32>
    %25 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x2x2x32xf32>
    %27 = "stablehlo.compare"(%26, %18) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x2x2x32xf32>, tensor<16x2x2x32xf32>) -> tensor<16x2x2x32xi1>
    %28 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x2x2x32xf32>
    %30 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x2x2x32xf32>
    %32 = "stablehlo.select"(%27, %29, %31) : (tensor<16x2x2x32xi1>, tensor<16x2x2x32xf32>, tensor<16x2x2x32xf32>) -> tensor<16x2x2x32xf32>
    %33 = "stablehlo.divide"(%24, %32) : (tensor<16x2x2x32xf32>, tensor<16x2x2x32xf32>) -> tensor<16x2x2x32xf32>
    %34 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x2x2x32xf32>) -> tensor<16x2x2x32x1xf32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<16x2x2x32x1xf32>) -> tensor<16x2x2x32x32xf32>
    %36 = "stablehlo.subtract"(%7, %35) : (tensor<16x2x2x32x32xf32>, tensor<16x2x2x32x32xf32>) -> tensor<16x2x2x32x32xf32>
    %37 = "stablehlo.exponential"(%36) : (tensor<16x2x2x32x32xf32>) -> tensor<16x2x2x32x32xf32>
    %38 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %39 = "stablehlo.reduce"(%37, %38) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %120 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%120) : (tensor<f32>) -> ()
    }) : (tensor<16x2x2x32x32xf32>, tensor<f32>) -> tensor<16x2x2x32xf32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x2x2x32xf32>) -> tensor<16x2x2x32x1xf32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<16x2x2x32x1xf32>) -> tensor<16x2x2x32x32xf32>
    %42 = "stablehlo.divide"(%37, %41) : (tensor<16x2x2x32x32xf32>, tensor<16x2x2x32x32xf32>) -> tensor<16x2x2x32x32xf32>
    %43 = "stablehlo.multiply"(%40, %40) : (tensor<16x2x2x32x1xf32>, tensor<16x2x2x32x1xf32>) -> tensor<16x2x2x32x1xf32>
    %44 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x2x2x32x1xf32>
    %46 = "stablehlo.divide"(%45, %43) : (tensor<16x2x2x32x1xf32>, tensor<16x2x2x32x1xf32>) -> tensor<16x2x2x32x1xf32>
    %47 = "stablehlo.dot_general"(%5, %42) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [4]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x2x16xf32>, tensor<16x2x2x32x32xf32>) -> tensor<16x2x16x2x32xf32>
    %48 = "stablehlo.transpose"(%47) <{permutation = array<i64: 0, 4, 1, 3, 2>}> : (tensor<16x2x16x2x32xf32>) -> tensor<16x32x2x2x16xf32>
    %49 = "stablehlo.reshape"(%48) : (tensor<16x32x2x2x16xf32>) -> tensor<16x32x64xf32>
    %50 = "stablehlo.dot_general"(%49, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %51 = "stablehlo.subtract"(%50, %arg5) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %52 = "stablehlo.multiply"(%51, %51) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %53 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %54 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %55 = "stablehlo.multiply"(%54, %51) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %56 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.reduce"(%52, %56) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %119 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%119) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<f32>
    %58 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %59 = "stablehlo.divide"(%57, %58) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %60 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %62 = "stablehlo.divide"(%60, %61) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %64 = "stablehlo.multiply"(%63, %55) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %65 = "stablehlo.dot_general"(%64, %49) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %66 = "stablehlo.transpose"(%65) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %67 = "stablehlo.dot_general"(%64, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %68 = "stablehlo.reshape"(%67) : (tensor<16x32x64xf32>) -> tensor<16x32x2x2x16xf32>
    %69 = "stablehlo.transpose"(%68) <{permutation = array<i64: 0, 2, 4, 3, 1>}> : (tensor<16x32x2x2x16xf32>) -> tensor<16x2x16x2x32xf32>
    %70 = "stablehlo.dot_general"(%69, %5) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x2x16x2x32xf32>, tensor<16x32x2x16xf32>) -> tensor<16x2x2x32x32xf32>
    %71 = "stablehlo.dot_general"(%69, %42) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3, 4], rhs_contracting_dimensions = [2, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x2x16x2x32xf32>, tensor<16x2x2x32x32xf32>) -> tensor<16x2x16x32xf32>
    %72 = "stablehlo.transpose"(%71) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<16x2x16x32xf32>) -> tensor<16x32x2x16xf32>
    %73 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<16x2x2x32x1xf32>) -> tensor<16x2x2x32x32xf32>
    %74 = "stablehlo.multiply"(%70, %73) : (tensor<16x2x2x32x32xf32>, tensor<16x2x2x32x32xf32>) -> tensor<16x2x2x32x32xf32>
    %75 = "stablehlo.multiply"(%74, %37) : (tensor<16x2x2x32x32xf32>, tensor<16x2x2x32x32xf32>) -> tensor<16x2x2x32x32xf32>
    %76 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %77 = "stablehlo.reduce"(%75, %76) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %118 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%118) : (tensor<f32>) -> ()
    }) : (tensor<16x2x2x32x32xf32>, tensor<f32>) -> tensor<16x2x2x32xf32>
    %78 = "stablehlo.reshape"(%77) : (tensor<16x2x2x32xf32>) -> tensor<16x2x2x32x1xf32>
    %79 = "stablehlo.negate"(%78) : (tensor<16x2x2x32x1xf32>) -> tensor<16x2x2x32x1xf32>
    %80 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<16x2x2x32x1xf32>) -> tensor<16x2x2x32x32xf32>
    %81 = "stablehlo.divide"(%70, %80) : (tensor<16x2x2x32x32xf32>, tensor<16x2x2x32x32xf32>) -> tensor<16x2x2x32x32xf32>
    %82 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.reduce"(%79, %82) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %117 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%117) : (tensor<f32>) -> ()
    }) : (tensor<16x2x2x32x1xf32>, tensor<f32>) -> tensor<16x2x2x32xf32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x2x2x32xf32>) -> tensor<16x2x2x32x32xf32>
    %85 = "stablehlo.add"(%81, %84) : (tensor<16x2x2x32x32xf32>, tensor<16x2x2x32x32xf32>) -> tensor<16x2x2x32x32xf32>
    %86 = "stablehlo.multiply"(%85, %37) : (tensor<16x2x2x32x32xf32>, tensor<16x2x2x32x32xf32>) -> tensor<16x2x2x32x32xf32>
    %87 = "stablehlo.transpose"(%86) <{permutation = array<i64: 0, 1, 4, 3, 2>}> : (tensor<16x2x2x32x32xf32>) -> tensor<16x2x32x32x2xf32>
    %88 = "stablehlo.dot_general"(%87, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x2x32x32x2xf32>, tensor<16x32x2x16xf32>) -> tensor<16x2x32x2x16xf32>
    %89 = "stablehlo.transpose"(%88) <{permutation = array<i64: 0, 2, 1, 3, 4>}> : (tensor<16x2x32x2x16xf32>) -> tensor<16x32x2x2x16xf32>
    %90 = "stablehlo.dot_general"(%87, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3, 4], rhs_contracting_dimensions = [1, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x2x32x32x2xf32>, tensor<16x32x2x2x16xf32>) -> tensor<16x2x32x16xf32>
    %91 = "stablehlo.transpose"(%90) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x2x32x16xf32>) -> tensor<16x32x2x16xf32>
    %92 = "stablehlo.reshape"(%72) : (tensor<16x32x2x16xf32>) -> tensor<16x32x32xf32>
    %93 = "stablehlo.dot_general"(%92, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x32xf32>, tensor<16x32x64xf32>) -> tensor<32x64xf32>
    %94 = "stablehlo.transpose"(%93) <{permutation = array<i64: 1, 0>}> : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %95 = "stablehlo.reshape"(%91) : (tensor<16x32x2x16xf32>) -> tensor<16x32x32xf32>
    %96 = "stablehlo.dot_general"(%95, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x32xf32>, tensor<16x32x64xf32>) -> tensor<32x64xf32>
    %97 = "stablehlo.transpose"(%96) <{permutation = array<i64: 1, 0>}> : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %98 = "stablehlo.reshape"(%89) : (tensor<16x32x2x2x16xf32>) -> tensor<16x32x64xf32>
    %99 = "stablehlo.dot_general"(%98, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %100 = "stablehlo.transpose"(%99) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %101 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %103 = "stablehlo.multiply"(%102, %97) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %104 = "stablehlo.subtract"(%arg0, %103) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %105 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.broadcast_in_dim"(%105) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %107 = "stablehlo.multiply"(%106, %66) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %108 = "stablehlo.subtract"(%arg1, %107) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %109 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %110 = "stablehlo.broadcast_in_dim"(%109) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %111 = "stablehlo.multiply"(%110, %100) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %112 = "stablehlo.subtract"(%arg2, %111) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %113 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %114 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %115 = "stablehlo.multiply"(%114, %94) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %116 = "stablehlo.subtract"(%arg3, %115) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    "func.return"(%104, %108, %112, %116, %59) : (tensor<64x32xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x32xf32>, tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
