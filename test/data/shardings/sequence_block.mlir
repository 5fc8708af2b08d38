"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=4, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}], function_type = (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['c1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {jax.result_info = "result[0]['c2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {jax.result_info = "result[0]['s1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {jax.result_info = "result[0]['s2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {jax.result_info = "result[0]['wk']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[0]['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {jax.result_info = "result[0]['wq']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[0]['wv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64xf32>, %arg3: tensor<64xf32>, %arg4: tensor<64x256xf32>, %arg5: tensor<256x64xf32>, %arg6: tensor<64x64xf32>, %arg7: tensor<64x64xf32>, %arg8: tensor<64x64xf32>, %arg9: tensor<64x64xf32>, %arg10: tensor<16x32x64xf32>, %arg11: tensor<16x32x64xf32>):
    %0 = "sdy.sharding_constraint"(%arg10) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}, {}]>}> : (tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg56: tensor<f32>, %arg57: tensor<f32>):
      %349 = "stablehlo.add"(%arg56, %arg57) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%349) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %4 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %6 = "stablehlo.divide"(%3, %5) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %8 = "stablehlo.subtract"(%0, %7) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %9 = "stablehlo.multiply"(%8, %8) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.reduce"(%9, %10) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg54: tensor<f32>, %arg55: tensor<f32>):
      %348 = "stablehlo.add"(%arg54, %arg55) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%348) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %13 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %15 = "stablehlo.divide"(%12, %14) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %16 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %17 = "stablehlo.subtract"(%0, %16) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %18 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %20 = "stablehlo.add"(%15, %19) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %21 = "stablehlo.rsqrt"(%20) : (tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %23 = "stablehlo.multiply"(%17, %22) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %24 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<16x32x64xf32>
    %26 = "stablehlo.multiply"(%23, %25) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %27 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<16x32x64xf32>
    %29 = "stablehlo.add"(%26, %28) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %30 = "stablehlo.dot_general"(%29, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %31 = "stablehlo.reshape"(%30) : (tensor<16x32x64xf32>) -> tensor<16x32x4x16xf32>
    %32 = "stablehlo.dot_general"(%29, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %33 = "stablehlo.reshape"(%32) : (tensor<16x32x64xf32>) -> tensor<16x32x4x16xf32>
    %34 = "stablehlo.dot_general"(%29, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %35 = "stablehlo.reshape"(%34) : (tensor<16x32x64xf32>) -> tensor<16x32x4x16xf32>
    %36 = "stablehlo.dot_general"(%31, %33) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x4x16xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x32xf32>
    %37 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32x32xf32>
    %39 = "stablehlo.divide"(%36, %38) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %40 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.reduce"(%39, %40) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg52: tensor<f32>, %arg53: tensor<f32>):
      %347 = "stablehlo.maximum"(%arg52, %arg53) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%347) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %42 = "stablehlo.reshape"(%41) : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %44 = "stablehlo.compare"(%39, %43) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xi1>
    %45 = "stablehlo.convert"(%44) : (tensor<16x4x32x32xi1>) -> tensor<16x4x32x32xf32>
    %46 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.reduce"(%45, %46) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg50: tensor<f32>, %arg51: tensor<f32>):
      %346 = "stablehlo.add"(%arg50, %arg51) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%346) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %48 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %50 = "stablehlo.maximum"(%49, %41) : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %51 = "stablehlo.compare"(%41, %50) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xi1>
    %52 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %54 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %56 = "stablehlo.select"(%51, %53, %55) : (tensor<16x4x32xi1>, tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %57 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %59 = "stablehlo.compare"(%58, %50) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xi1>
    %60 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %62 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %64 = "stablehlo.select"(%59, %61, %63) : (tensor<16x4x32xi1>, tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %65 = "stablehlo.divide"(%56, %64) : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %66 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %68 = "stablehlo.subtract"(%39, %67) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %69 = "stablehlo.exponential"(%68) : (tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %70 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %71 = "stablehlo.reduce"(%69, %70) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
      %345 = "stablehlo.add"(%arg48, %arg49) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%345) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %72 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %73 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %74 = "stablehlo.divide"(%69, %73) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %75 = "stablehlo.multiply"(%72, %72) : (tensor<16x4x32x1xf32>, tensor<16x4x32x1xf32>) -> tensor<16x4x32x1xf32>
    %76 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32x1xf32>
    %78 = "stablehlo.divide"(%77, %75) : (tensor<16x4x32x1xf32>, tensor<16x4x32x1xf32>) -> tensor<16x4x32x1xf32>
    %79 = "stablehlo.dot_general"(%35, %74) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x4x16xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x16x32xf32>
    %80 = "stablehlo.transpose"(%79) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<16x4x16x32xf32>) -> tensor<16x32x4x16xf32>
    %81 = "stablehlo.reshape"(%80) : (tensor<16x32x4x16xf32>) -> tensor<16x32x64xf32>
    %82 = "stablehlo.dot_general"(%81, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %83 = "stablehlo.add"(%0, %82) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %84 = "sdy.sharding_constraint"(%83) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}, {}]>}> : (tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %85 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %86 = "stablehlo.reduce"(%84, %85) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg46: tensor<f32>, %arg47: tensor<f32>):
      %344 = "stablehlo.add"(%arg46, %arg47) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%344) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %88 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %90 = "stablehlo.divide"(%87, %89) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %91 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %92 = "stablehlo.subtract"(%84, %91) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %93 = "stablehlo.multiply"(%92, %92) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %94 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %96 = "stablehlo.multiply"(%95, %92) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %97 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %98 = "stablehlo.reduce"(%93, %97) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg44: tensor<f32>, %arg45: tensor<f32>):
      %343 = "stablehlo.add"(%arg44, %arg45) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%343) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %99 = "stablehlo.broadcast_in_dim"(%98) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %100 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %102 = "stablehlo.divide"(%99, %101) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %103 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %104 = "stablehlo.subtract"(%84, %103) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %105 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.broadcast_in_dim"(%105) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %107 = "stablehlo.add"(%102, %106) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %108 = "stablehlo.rsqrt"(%107) : (tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %109 = "stablehlo.divide"(%108, %107) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %110 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %112 = "stablehlo.multiply"(%111, %109) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %113 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %114 = "stablehlo.multiply"(%104, %113) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %115 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %116 = "stablehlo.broadcast_in_dim"(%115) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<16x32x64xf32>
    %117 = "stablehlo.multiply"(%114, %116) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %118 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %119 = "stablehlo.broadcast_in_dim"(%118) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<16x32x64xf32>
    %120 = "stablehlo.add"(%117, %119) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %121 = "stablehlo.dot_general"(%120, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x256xf32>) -> tensor<16x32x256xf32>
    %122 = "stablehlo.multiply"(%121, %121) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %123 = "stablehlo.multiply"(%122, %121) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %124 = "stablehlo.multiply"(%121, %121) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %125 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %126 = "stablehlo.broadcast_in_dim"(%125) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %127 = "stablehlo.multiply"(%126, %124) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %128 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %129 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %130 = "stablehlo.multiply"(%129, %123) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %131 = "stablehlo.add"(%121, %130) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %132 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %133 = "stablehlo.broadcast_in_dim"(%132) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %134 = "stablehlo.multiply"(%133, %131) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %135 = "stablehlo.tanh"(%134) : (tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %136 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %137 = "stablehlo.broadcast_in_dim"(%136) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %138 = "stablehlo.subtract"(%137, %135) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %139 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %140 = "stablehlo.broadcast_in_dim"(%139) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %141 = "stablehlo.add"(%140, %135) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %142 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %143 = "stablehlo.broadcast_in_dim"(%142) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %144 = "stablehlo.multiply"(%143, %141) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %145 = "stablehlo.multiply"(%121, %144) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %146 = "stablehlo.dot_general"(%145, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x256xf32>, tensor<256x64xf32>) -> tensor<16x32x64xf32>
    %147 = "stablehlo.add"(%84, %146) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %148 = "sdy.sharding_constraint"(%147) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}, {}]>}> : (tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %149 = "stablehlo.subtract"(%148, %arg11) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %150 = "stablehlo.multiply"(%149, %149) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %151 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %152 = "stablehlo.broadcast_in_dim"(%151) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %153 = "stablehlo.multiply"(%152, %149) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %154 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %155 = "stablehlo.reduce"(%150, %154) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg42: tensor<f32>, %arg43: tensor<f32>):
      %342 = "stablehlo.add"(%arg42, %arg43) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%342) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<f32>
    %156 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %157 = "stablehlo.divide"(%155, %156) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %158 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %159 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %160 = "stablehlo.divide"(%158, %159) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %161 = "stablehlo.broadcast_in_dim"(%160) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %162 = "stablehlo.multiply"(%161, %153) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %163 = "sdy.sharding_constraint"(%162) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}, {}]>}> : (tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %164 = "stablehlo.dot_general"(%163, %145) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x256xf32>) -> tensor<64x256xf32>
    %165 = "stablehlo.transpose"(%164) <{permutation = array<i64: 1, 0>}> : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %166 = "stablehlo.dot_general"(%163, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<256x64xf32>) -> tensor<16x32x256xf32>
    %167 = "stablehlo.multiply"(%121, %166) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %168 = "stablehlo.multiply"(%166, %144) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %169 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %170 = "stablehlo.broadcast_in_dim"(%169) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %171 = "stablehlo.multiply"(%170, %167) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %172 = "stablehlo.multiply"(%171, %138) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %173 = "stablehlo.multiply"(%172, %135) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %174 = "stablehlo.add"(%172, %173) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %175 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %176 = "stablehlo.broadcast_in_dim"(%175) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %177 = "stablehlo.multiply"(%176, %174) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %178 = "stablehlo.add"(%168, %177) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %179 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %180 = "stablehlo.broadcast_in_dim"(%179) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %181 = "stablehlo.multiply"(%180, %177) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %182 = "stablehlo.multiply"(%181, %127) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %183 = "stablehlo.add"(%178, %182) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %184 = "stablehlo.dot_general"(%183, %120) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x256xf32>, tensor<16x32x64xf32>) -> tensor<256x64xf32>
    %185 = "stablehlo.transpose"(%184) <{permutation = array<i64: 1, 0>}> : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %186 = "stablehlo.dot_general"(%183, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x256xf32>, tensor<64x256xf32>) -> tensor<16x32x64xf32>
    %187 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %188 = "stablehlo.reduce"(%186, %187) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg40: tensor<f32>, %arg41: tensor<f32>):
      %341 = "stablehlo.add"(%arg40, %arg41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%341) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %189 = "stablehlo.reshape"(%188) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %190 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %191 = "stablehlo.reduce"(%189, %190) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg38: tensor<f32>, %arg39: tensor<f32>):
      %340 = "stablehlo.add"(%arg38, %arg39) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%340) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %192 = "stablehlo.multiply"(%114, %186) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %193 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %194 = "stablehlo.reduce"(%192, %193) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg36: tensor<f32>, %arg37: tensor<f32>):
      %339 = "stablehlo.add"(%arg36, %arg37) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%339) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %195 = "stablehlo.reshape"(%194) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %196 = "stablehlo.broadcast_in_dim"(%115) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<16x32x64xf32>
    %197 = "stablehlo.multiply"(%186, %196) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %198 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %199 = "stablehlo.reduce"(%195, %198) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg34: tensor<f32>, %arg35: tensor<f32>):
      %338 = "stablehlo.add"(%arg34, %arg35) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%338) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %200 = "stablehlo.multiply"(%104, %197) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %201 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %202 = "stablehlo.reduce"(%200, %201) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg32: tensor<f32>, %arg33: tensor<f32>):
      %337 = "stablehlo.add"(%arg32, %arg33) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%337) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %203 = "stablehlo.reshape"(%202) : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %204 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %205 = "stablehlo.multiply"(%197, %204) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %206 = "stablehlo.multiply"(%203, %112) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %207 = "stablehlo.negate"(%205) : (tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %208 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %209 = "stablehlo.reduce"(%207, %208) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg30: tensor<f32>, %arg31: tensor<f32>):
      %336 = "stablehlo.add"(%arg30, %arg31) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%336) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %210 = "stablehlo.reshape"(%209) : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %211 = "stablehlo.add"(%163, %205) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %212 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %213 = "stablehlo.broadcast_in_dim"(%212) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %214 = "stablehlo.divide"(%206, %213) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %215 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %216 = "stablehlo.reduce"(%214, %215) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg28: tensor<f32>, %arg29: tensor<f32>):
      %335 = "stablehlo.add"(%arg28, %arg29) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%335) : (tensor<f32>) -> ()
    }) : (tensor<16x32x1xf32>, tensor<f32>) -> tensor<16x32xf32>
    %217 = "stablehlo.broadcast_in_dim"(%216) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x64xf32>
    %218 = "stablehlo.multiply"(%217, %96) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %219 = "stablehlo.negate"(%218) : (tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %220 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %221 = "stablehlo.reduce"(%219, %220) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg26: tensor<f32>, %arg27: tensor<f32>):
      %334 = "stablehlo.add"(%arg26, %arg27) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%334) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %222 = "stablehlo.reshape"(%221) : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %223 = "stablehlo.add"(%211, %218) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %224 = "stablehlo.add"(%210, %222) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %225 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %226 = "stablehlo.broadcast_in_dim"(%225) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %227 = "stablehlo.divide"(%224, %226) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %228 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %229 = "stablehlo.reduce"(%227, %228) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %333 = "stablehlo.add"(%arg24, %arg25) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%333) : (tensor<f32>) -> ()
    }) : (tensor<16x32x1xf32>, tensor<f32>) -> tensor<16x32xf32>
    %230 = "stablehlo.broadcast_in_dim"(%229) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x64xf32>
    %231 = "stablehlo.add"(%223, %230) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %232 = "sdy.sharding_constraint"(%231) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}, {}]>}> : (tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %233 = "stablehlo.dot_general"(%232, %81) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %234 = "stablehlo.transpose"(%233) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %235 = "stablehlo.dot_general"(%232, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %236 = "stablehlo.reshape"(%235) : (tensor<16x32x64xf32>) -> tensor<16x32x4x16xf32>
    %237 = "stablehlo.transpose"(%236) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<16x32x4x16xf32>) -> tensor<16x4x16x32xf32>
    %238 = "stablehlo.dot_general"(%237, %35) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x32xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x32xf32>
    %239 = "stablehlo.dot_general"(%237, %74) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x16x32xf32>
    %240 = "stablehlo.transpose"(%239) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<16x4x16x32xf32>) -> tensor<16x32x4x16xf32>
    %241 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %242 = "stablehlo.multiply"(%238, %241) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %243 = "stablehlo.multiply"(%242, %69) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %244 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %245 = "stablehlo.reduce"(%243, %244) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg22: tensor<f32>, %arg23: tensor<f32>):
      %332 = "stablehlo.add"(%arg22, %arg23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%332) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %246 = "stablehlo.reshape"(%245) : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %247 = "stablehlo.negate"(%246) : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x1xf32>
    %248 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %249 = "stablehlo.divide"(%238, %248) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %250 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %251 = "stablehlo.reduce"(%247, %250) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
      %331 = "stablehlo.add"(%arg20, %arg21) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%331) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x1xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %252 = "stablehlo.broadcast_in_dim"(%251) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x32xf32>) -> tensor<16x4x32x32xf32>
    %253 = "stablehlo.add"(%249, %252) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %254 = "stablehlo.multiply"(%253, %69) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %255 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %256 = "stablehlo.broadcast_in_dim"(%255) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32x32xf32>
    %257 = "stablehlo.divide"(%254, %256) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %258 = "stablehlo.dot_general"(%257, %31) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x32x32xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x16xf32>
    %259 = "stablehlo.transpose"(%258) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x32x16xf32>) -> tensor<16x32x4x16xf32>
    %260 = "stablehlo.dot_general"(%257, %33) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x32x32xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x16xf32>
    %261 = "stablehlo.transpose"(%260) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x32x16xf32>) -> tensor<16x32x4x16xf32>
    %262 = "stablehlo.reshape"(%240) : (tensor<16x32x4x16xf32>) -> tensor<16x32x64xf32>
    %263 = "stablehlo.dot_general"(%262, %29) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %264 = "stablehlo.transpose"(%263) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %265 = "stablehlo.dot_general"(%262, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %266 = "stablehlo.reshape"(%259) : (tensor<16x32x4x16xf32>) -> tensor<16x32x64xf32>
    %267 = "stablehlo.dot_general"(%266, %29) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %268 = "stablehlo.transpose"(%267) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %269 = "stablehlo.dot_general"(%266, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %270 = "stablehlo.add"(%265, %269) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %271 = "stablehlo.reshape"(%261) : (tensor<16x32x4x16xf32>) -> tensor<16x32x64xf32>
    %272 = "stablehlo.dot_general"(%271, %29) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %273 = "stablehlo.transpose"(%272) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %274 = "stablehlo.dot_general"(%271, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %275 = "stablehlo.add"(%270, %274) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %276 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %277 = "stablehlo.reduce"(%275, %276) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %330 = "stablehlo.add"(%arg18, %arg19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%330) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %278 = "stablehlo.reshape"(%277) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %279 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %280 = "stablehlo.reduce"(%278, %279) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %329 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%329) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %281 = "stablehlo.multiply"(%23, %275) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %282 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %283 = "stablehlo.reduce"(%281, %282) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %328 = "stablehlo.add"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%328) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %284 = "stablehlo.reshape"(%283) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %285 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %286 = "stablehlo.reduce"(%284, %285) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %327 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%327) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %287 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %288 = "stablehlo.broadcast_in_dim"(%287) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %289 = "stablehlo.multiply"(%288, %280) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %290 = "stablehlo.subtract"(%arg0, %289) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %291 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %292 = "stablehlo.broadcast_in_dim"(%291) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %293 = "stablehlo.multiply"(%292, %191) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %294 = "stablehlo.subtract"(%arg1, %293) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %295 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %296 = "stablehlo.broadcast_in_dim"(%295) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %297 = "stablehlo.multiply"(%296, %286) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %298 = "stablehlo.subtract"(%arg2, %297) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %299 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %300 = "stablehlo.broadcast_in_dim"(%299) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %301 = "stablehlo.multiply"(%300, %199) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %302 = "stablehlo.subtract"(%arg3, %301) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %303 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %304 = "stablehlo.broadcast_in_dim"(%303) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %305 = "stablehlo.multiply"(%304, %185) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %306 = "stablehlo.subtract"(%arg4, %305) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %307 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %308 = "stablehlo.broadcast_in_dim"(%307) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %309 = "stablehlo.multiply"(%308, %165) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %310 = "stablehlo.subtract"(%arg5, %309) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %311 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %312 = "stablehlo.broadcast_in_dim"(%311) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %313 = "stablehlo.multiply"(%312, %268) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %314 = "stablehlo.subtract"(%arg6, %313) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %315 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %316 = "stablehlo.broadcast_in_dim"(%315) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %317 = "stablehlo.multiply"(%316, %234) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %318 = "stablehlo.subtract"(%arg7, %317) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %319 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %320 = "stablehlo.broadcast_in_dim"(%319) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %321 = "stablehlo.multiply"(%320, %273) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %322 = "stablehlo.subtract"(%arg8, %321) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %323 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %324 = "stablehlo.broadcast_in_dim"(%323) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %325 = "stablehlo.multiply"(%324, %264) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %326 = "stablehlo.subtract"(%arg9, %325) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%290, %294, %298, %302, %306, %310, %314, %318, %322, %326, %157) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
