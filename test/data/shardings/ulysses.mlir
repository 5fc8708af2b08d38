"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "sp"=4]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "sp", size = 4 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"sp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"sp"}, {}]>}], function_type = (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<4x32x64xf32>, tensor<4x32x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[0]['wo']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[0]['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[0]['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<64x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<64x64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<4x32x64xf32>, %arg5: tensor<4x32x64xf32>):
    %0 = "sdy.sharding_constraint"(%arg4) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"sp"}, {}]>}> : (tensor<4x32x64xf32>) -> tensor<4x32x64xf32>
    %1 = "stablehlo.dot_general"(%0, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<64x64xf32>) -> tensor<4x32x64xf32>
    %2 = "stablehlo.reshape"(%1) : (tensor<4x32x64xf32>) -> tensor<4x32x4x16xf32>
    %3 = "sdy.sharding_constraint"(%2) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {"sp"}, {}]>}> : (tensor<4x32x4x16xf32>) -> tensor<4x32x4x16xf32>
    %4 = "stablehlo.dot_general"(%0, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<64x64xf32>) -> tensor<4x32x64xf32>
    %5 = "stablehlo.reshape"(%4) : (tensor<4x32x64xf32>) -> tensor<4x32x4x16xf32>
    %6 = "sdy.sharding_constraint"(%5) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {"sp"}, {}]>}> : (tensor<4x32x4x16xf32>) -> tensor<4x32x4x16xf32>
    %7 = "stablehlo.dot_general"(%0, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<64x64xf32>) -> tensor<4x32x64xf32>
    %8 = "stablehlo.reshape"(%7) : (tensor<4x32x64xf32>) -> tensor<4x32x4x16xf32>
    %9 = "sdy.sharding_constraint"(%8) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {"sp"}, {}]>}> : (tensor<4x32x4x16xf32>) -> tensor<4x32x4x16xf32>
    %10 = "stablehlo.dot_general"(%3, %6) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x4x16xf32>, tensor<4x32x4x16xf32>) -> tensor<4x4x32x32xf32>
    %11 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.reduce"(%10, %11) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %129 = "stablehlo.maximum"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%129) : (tensor<f32>) -> ()
    }) : (tensor<4x4x32x32xf32>, tensor<f32>) -> tensor<4x4x32xf32>
    %13 = "stablehlo.reshape"(%12) : (tensor<4x4x32xf32>) -> tensor<4x4x32x1xf32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<4x4x32x1xf32>) -> tensor<4x4x32x32xf32>
    %15 = "stablehlo.compare"(%10, %14) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x4x32x32xf32>, tensor<4x4x32x32xf32>) -> tensor<4x4x32x32xi1>
    %16 = "stablehlo.convert"(%15) : (tensor<4x4x32x32xi1>) -> tensor<4x4x32x32xf32>
    %17 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.reduce"(%16, %17) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %128 = "stablehlo.add"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%128) : (tensor<f32>) -> ()
    }) : (tensor<4x4x32x32xf32>, tensor<f32>) -> tensor<4x4x32xf32>
    %19 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x32xf32>
    %21 = "stablehlo.maximum"(%20, %12) : (tensor<4x4x32xf32>, tensor<4x4x32xf32>) -> tensor<4x4x32xf32>
    %22 = "stablehlo.compare"(%12, %21) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x4x32xf32>, tensor<4x4x32xf32>) -> tensor<4x4x32xi1>
    %23 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x32xf32>
    %25 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x32xf32>
    %27 = "stablehlo.select"(%22, %24, %26) : (tensor<4x4x32xi1>, tensor<4x4x32xf32>, tensor<4x4x32xf32>) -> tensor<4x4x32xf32>
    %28 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x32xf32>
    %30 = "stablehlo.compare"(%29, %21) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x4x32xf32>, tensor<4x4x32xf32>) -> tensor<4x4x32xi1>
    %31 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x32xf32>
    %33 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x32xf32>
    %35 = "stablehlo.select"(%30, %32, %34) : (tensor<4x4x32xi1>, tensor<4x4x32xf32>, tensor<4x4x32xf32>) -> tensor<4x4x32xf32>
    %36 = "stablehlo.divide"(%27, %35) : (tensor<4x4x32xf32>, tensor<4x4x32xf32>) -> tensor<4x4x32xf32>
    %37 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x4x32xf32>) -> tensor<4x4x32x1xf32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<4x4x32x1xf32>) -> tensor<4x4x32x32xf32>
    %39 = "stablehlo.subtract"(%10, %38) : (tensor<4x4x32x32xf32>, tensor<4x4x32x32xf32>) -> tensor<4x4x32x32xf32>
    %40 = "stablehlo.exponential"(%39) : (tensor<4x4x32x32xf32>) -> tensor<4x4x32x32xf32>
    %41 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.reduce"(%40, %41) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %127 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%127) : (tensor<f32>) -> ()
    }) : (tensor<4x4x32x32xf32>, tensor<f32>) -> tensor<4x4x32xf32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x4x32xf32>) -> tensor<4x4x32x1xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<4x4x32x1xf32>) -> tensor<4x4x32x32xf32>
    %45 = "stablehlo.divide"(%40, %44) : (tensor<4x4x32x32xf32>, tensor<4x4x32x32xf32>) -> tensor<4x4x32x32xf32>
    %46 = "stablehlo.multiply"(%43, %43) : (tensor<4x4x32x1xf32>, tensor<4x4x32x1xf32>) -> tensor<4x4x32x1xf32>
    %47 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x32x1xf32>
    %49 = "stablehlo.divide"(%48, %46) : (tensor<4x4x32x1xf32>, tensor<4x4x32x1xf32>) -> tensor<4x4x32x1xf32>
    %50 = "stablehlo.dot_general"(%9, %45) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x4x16xf32>, tensor<4x4x32x32xf32>) -> tensor<4x4x16x32xf32>
    %51 = "stablehlo.transpose"(%50) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<4x4x16x32xf32>) -> tensor<4x32x4x16xf32>
    %52 = "sdy.sharding_constraint"(%51) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"sp"}, {}, {}]>}> : (tensor<4x32x4x16xf32>) -> tensor<4x32x4x16xf32>
    %53 = "stablehlo.reshape"(%52) : (tensor<4x32x4x16xf32>) -> tensor<4x32x64xf32>
    %54 = "stablehlo.dot_general"(%53, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<64x64xf32>) -> tensor<4x32x64xf32>
    %55 = "stablehlo.subtract"(%54, %arg5) : (tensor<4x32x64xf32>, tensor<4x32x64xf32>) -> tensor<4x32x64xf32>
    %56 = "stablehlo.multiply"(%55, %55) : (tensor<4x32x64xf32>, tensor<4x32x64xf32>) -> tensor<4x32x64xf32>
    %57 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x32x64xf32>
    %59 = "stablehlo.multiply"(%58, %55) : (tensor<4x32x64xf32>, tensor<4x32x64xf32>) -> tensor<4x32x64xf32>
    %60 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.reduce"(%56, %60) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %126 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%126) : (tensor<f32>) -> ()
    }) : (tensor<4x32x64xf32>, tensor<f32>) -> tensor<f32>
    %62 = "stablehlo.constant"() <{value = dense<8.192000e+03> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.divide"(%61, %62) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %64 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.constant"() <{value = dense<8.192000e+03> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.divide"(%64, %65) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x32x64xf32>
    %68 = "stablehlo.multiply"(%67, %59) : (tensor<4x32x64xf32>, tensor<4x32x64xf32>) -> tensor<4x32x64xf32>
    %69 = "stablehlo.dot_general"(%68, %53) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<4x32x64xf32>) -> tensor<64x64xf32>
    %70 = "stablehlo.transpose"(%69) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %71 = "stablehlo.dot_general"(%68, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<64x64xf32>) -> tensor<4x32x64xf32>
    %72 = "stablehlo.reshape"(%71) : (tensor<4x32x64xf32>) -> tensor<4x32x4x16xf32>
    %73 = "sdy.sharding_constraint"(%72) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"sp"}, {}, {}]>}> : (tensor<4x32x4x16xf32>) -> tensor<4x32x4x16xf32>
    %74 = "stablehlo.transpose"(%73) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<4x32x4x16xf32>) -> tensor<4x4x16x32xf32>
    %75 = "stablehlo.dot_general"(%74, %9) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4x16x32xf32>, tensor<4x32x4x16xf32>) -> tensor<4x4x32x32xf32>
    %76 = "stablehlo.dot_general"(%74, %45) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4x16x32xf32>, tensor<4x4x32x32xf32>) -> tensor<4x4x16x32xf32>
    %77 = "stablehlo.transpose"(%76) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<4x4x16x32xf32>) -> tensor<4x32x4x16xf32>
    %78 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<4x4x32x1xf32>) -> tensor<4x4x32x32xf32>
    %79 = "stablehlo.multiply"(%75, %78) : (tensor<4x4x32x32xf32>, tensor<4x4x32x32xf32>) -> tensor<4x4x32x32xf32>
    %80 = "stablehlo.multiply"(%79, %40) : (tensor<4x4x32x32xf32>, tensor<4x4x32x32xf32>) -> tensor<4x4x32x32xf32>
    %81 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %82 = "stablehlo.reduce"(%80, %81) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %125 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%125) : (tensor<f32>) -> ()
    }) : (tensor<4x4x32x32xf32>, tensor<f32>) -> tensor<4x4x32xf32>
    %83 = "stablehlo.reshape"(%82) : (tensor<4x4x32xf32>) -> tensor<4x4x32x1xf32>
    %84 = "stablehlo.negate"(%83) : (tensor<4x4x32x1xf32>) -> tensor<4x4x32x1xf32>
    %85 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<4x4x32x1xf32>) -> tensor<4x4x32x32xf32>
    %86 = "stablehlo.divide"(%75, %85) : (tensor<4x4x32x32xf32>, tensor<4x4x32x32xf32>) -> tensor<4x4x32x32xf32>
    %87 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %88 = "stablehlo.reduce"(%84, %87) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %124 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%124) : (tensor<f32>) -> ()
    }) : (tensor<4x4x32x1xf32>, tensor<f32>) -> tensor<4x4x32xf32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x4x32xf32>) -> tensor<4x4x32x32xf32>
    %90 = "stablehlo.add"(%86, %89) : (tensor<4x4x32x32xf32>, tensor<4x4x32x32xf32>) -> tensor<4x4x32x32xf32>
    %91 = "stablehlo.multiply"(%90, %40) : (tensor<4x4x32x32xf32>, tensor<4x4x32x32xf32>) -> tensor<4x4x32x32xf32>
    %92 = "stablehlo.dot_general"(%91, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4x32x32xf32>, tensor<4x32x4x16xf32>) -> tensor<4x4x32x16xf32>
    %93 = "stablehlo.transpose"(%92) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<4x4x32x16xf32>) -> tensor<4x32x4x16xf32>
    %94 = "stablehlo.dot_general"(%91, %6) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4x32x32xf32>, tensor<4x32x4x16xf32>) -> tensor<4x4x32x16xf32>
    %95 = "stablehlo.transpose"(%94) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<4x4x32x16xf32>) -> tensor<4x32x4x16xf32>
    %96 = "sdy.sharding_constraint"(%77) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {"sp"}, {}]>}> : (tensor<4x32x4x16xf32>) -> tensor<4x32x4x16xf32>
    %97 = "stablehlo.reshape"(%96) : (tensor<4x32x4x16xf32>) -> tensor<4x32x64xf32>
    %98 = "stablehlo.dot_general"(%97, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<4x32x64xf32>) -> tensor<64x64xf32>
    %99 = "stablehlo.transpose"(%98) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %100 = "sdy.sharding_constraint"(%93) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {"sp"}, {}]>}> : (tensor<4x32x4x16xf32>) -> tensor<4x32x4x16xf32>
    %101 = "stablehlo.reshape"(%100) : (tensor<4x32x4x16xf32>) -> tensor<4x32x64xf32>
    %102 = "stablehlo.dot_general"(%101, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<4x32x64xf32>) -> tensor<64x64xf32>
    %103 = "stablehlo.transpose"(%102) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %104 = "sdy.sharding_constraint"(%95) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {"sp"}, {}]>}> : (tensor<4x32x4x16xf32>) -> tensor<4x32x4x16xf32>
    %105 = "stablehlo.reshape"(%104) : (tensor<4x32x4x16xf32>) -> tensor<4x32x64xf32>
    %106 = "stablehlo.dot_general"(%105, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32x64xf32>, tensor<4x32x64xf32>) -> tensor<64x64xf32>
    %107 = "stablehlo.transpose"(%106) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %108 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %109 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %110 = "stablehlo.multiply"(%109, %103) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %111 = "stablehlo.subtract"(%arg0, %110) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %112 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %113 = "stablehlo.broadcast_in_dim"(%112) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %114 = "stablehlo.multiply"(%113, %70) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %115 = "stablehlo.subtract"(%arg1, %114) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %116 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %117 = "stablehlo.broadcast_in_dim"(%116) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %118 = "stablehlo.multiply"(%117, %107) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %119 = "stablehlo.subtract"(%arg2, %118) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %120 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %121 = "stablehlo.broadcast_in_dim"(%120) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %122 = "stablehlo.multiply"(%121, %99) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %123 = "stablehlo.subtract"(%arg3, %122) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%111, %115, %119, %123, %63) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
