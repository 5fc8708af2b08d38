"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=8]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 8 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}], function_type = (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['c1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {jax.result_info = "result[0]['c2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {jax.result_info = "result[0]['s1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {jax.result_info = "result[0]['s2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['wk']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['wq']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['wv']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64xf32>, %arg3: tensor<64xf32>, %arg4: tensor<64x256xf32>, %arg5: tensor<256x64xf32>, %arg6: tensor<64x64xf32>, %arg7: tensor<64x64xf32>, %arg8: tensor<64x64xf32>, %arg9: tensor<64x64xf32>, %arg10: tensor<16x32x64xf32>, %arg11: tensor<16x32x64xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.reduce"(%arg10, %0) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg56: tensor<f32>, %arg57: tensor<f32>):
      %344 = "stablehlo.add"(%arg56, %arg57) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%344) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %5 = "stablehlo.divide"(%2, %4) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %7 = "stablehlo.subtract"(%arg10, %6) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %8 = "stablehlo.multiply"(%7, %7) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.reduce"(%8, %9) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg54: tensor<f32>, %arg55: tensor<f32>):
      %343 = "stablehlo.add"(%arg54, %arg55) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%343) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %12 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %14 = "stablehlo.divide"(%11, %13) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %15 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %16 = "stablehlo.subtract"(%arg10, %15) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %17 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %19 = "stablehlo.add"(%14, %18) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %20 = "stablehlo.rsqrt"(%19) : (tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %22 = "stablehlo.multiply"(%16, %21) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %23 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<16x32x64xf32>
    %25 = "stablehlo.multiply"(%22, %24) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %26 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<16x32x64xf32>
    %28 = "stablehlo.add"(%25, %27) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %29 = "stablehlo.dot_general"(%28, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %30 = "stablehlo.reshape"(%29) : (tensor<16x32x64xf32>) -> tensor<16x32x4x16xf32>
    %31 = "stablehlo.dot_general"(%28, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %32 = "stablehlo.reshape"(%31) : (tensor<16x32x64xf32>) -> tensor<16x32x4x16xf32>
    %33 = "stablehlo.dot_general"(%28, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %34 = "stablehlo.reshape"(%33) : (tensor<16x32x64xf32>) -> tensor<16x32x4x16xf32>
    %35 = "stablehlo.dot_general"(%30, %32) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x4x16xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x32xf32>
    %36 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32x32xf32>
    %38 = "stablehlo.divide"(%35, %37) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %39 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.reduce"(%38, %39) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg52: tensor<f32>, %arg53: tensor<f32>):
      %342 = "stablehlo.maximum"(%arg52, %arg53) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%342) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %41 = "stablehlo.reshape"(%40) : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %43 = "stablehlo.compare"(%38, %42) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xi1>
    %44 = "stablehlo.convert"(%43) : (tensor<16x4x32x32xi1>) -> tensor<16x4x32x32xf32>
    %45 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.reduce"(%44, %45) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg50: tensor<f32>, %arg51: tensor<f32>):
      %341 = "stablehlo.add"(%arg50, %arg51) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%341) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %47 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %49 = "stablehlo.maximum"(%48, %40) : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %50 = "stablehlo.compare"(%40, %49) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xi1>
    %51 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %53 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %54 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %55 = "stablehlo.select"(%50, %52, %54) : (tensor<16x4x32xi1>, tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %56 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %58 = "stablehlo.compare"(%57, %49) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xi1>
    %59 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %61 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %62 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %63 = "stablehlo.select"(%58, %60, %62) : (tensor<16x4x32xi1>, tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %64 = "stablehlo.divide"(%55, %63) : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %65 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %67 = "stablehlo.subtract"(%38, %66) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %68 = "stablehlo.exponential"(%67) : (tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %69 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %70 = "stablehlo.reduce"(%68, %69) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
      %340 = "stablehlo.add"(%arg48, %arg49) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%340) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %71 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %72 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %73 = "stablehlo.divide"(%68, %72) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %74 = "stablehlo.multiply"(%71, %71) : (tensor<16x4x32x1xf32>, tensor<16x4x32x1xf32>) -> tensor<16x4x32x1xf32>
    %75 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %76 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32x1xf32>
    %77 = "stablehlo.divide"(%76, %74) : (tensor<16x4x32x1xf32>, tensor<16x4x32x1xf32>) -> tensor<16x4x32x1xf32>
    %78 = "stablehlo.dot_general"(%34, %73) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x4x16xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x16x32xf32>
    %79 = "stablehlo.transpose"(%78) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<16x4x16x32xf32>) -> tensor<16x32x4x16xf32>
    %80 = "stablehlo.reshape"(%79) : (tensor<16x32x4x16xf32>) -> tensor<16x32x64xf32>
    %81 = "stablehlo.dot_general"(%80, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %82 = "stablehlo.add"(%arg10, %81) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %83 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.reduce"(%82, %83) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg46: tensor<f32>, %arg47: tensor<f32>):
      %339 = "stablehlo.add"(%arg46, %arg47) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%339) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %86 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %88 = "stablehlo.divide"(%85, %87) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %90 = "stablehlo.subtract"(%82, %89) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %91 = "stablehlo.multiply"(%90, %90) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %92 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %93 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %94 = "stablehlo.multiply"(%93, %90) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %95 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %96 = "stablehlo.reduce"(%91, %95) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg44: tensor<f32>, %arg45: tensor<f32>):
      %338 = "stablehlo.add"(%arg44, %arg45) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%338) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %97 = "stablehlo.broadcast_in_dim"(%96) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %98 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %99 = "stablehlo.broadcast_in_dim"(%98) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %100 = "stablehlo.divide"(%97, %99) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %101 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %102 = "stablehlo.subtract"(%82, %101) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %103 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %104 = "stablehlo.broadcast_in_dim"(%103) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %105 = "stablehlo.add"(%100, %104) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %106 = "stablehlo.rsqrt"(%105) : (tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %107 = "stablehlo.divide"(%106, %105) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %108 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %109 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %110 = "stablehlo.multiply"(%109, %107) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %111 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %112 = "stablehlo.multiply"(%102, %111) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %113 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %114 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<16x32x64xf32>
    %115 = "stablehlo.multiply"(%112, %114) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %116 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 2>}> : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %117 = "stablehlo.broadcast_in_dim"(%116) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<16x32x64xf32>
    %118 = "stablehlo.add"(%115, %117) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %119 = "stablehlo.dot_general"(%118, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x256xf32>) -> tensor<16x32x256xf32>
    %120 = "stablehlo.multiply"(%119, %119) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %121 = "stablehlo.multiply"(%120, %119) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %122 = "stablehlo.multiply"(%119, %119) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %123 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %124 = "stablehlo.broadcast_in_dim"(%123) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %125 = "stablehlo.multiply"(%124, %122) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %126 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %127 = "stablehlo.broadcast_in_dim"(%126) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %128 = "stablehlo.multiply"(%127, %121) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %129 = "stablehlo.add"(%119, %128) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %130 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %131 = "stablehlo.broadcast_in_dim"(%130) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %132 = "stablehlo.multiply"(%131, %129) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %133 = "stablehlo.tanh"(%132) : (tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %134 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %135 = "stablehlo.broadcast_in_dim"(%134) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %136 = "stablehlo.subtract"(%135, %133) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %137 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %138 = "stablehlo.broadcast_in_dim"(%137) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %139 = "stablehlo.add"(%138, %133) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %140 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %141 = "stablehlo.broadcast_in_dim"(%140) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %142 = "stablehlo.multiply"(%141, %139) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %143 = "stablehlo.multiply"(%119, %142) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %144 = "stablehlo.dot_general"(%143, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x256xf32>, tensor<256x64xf32>) -> tensor<16x32x64xf32>
    %145 = "stablehlo.add"(%82, %144) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %146 = "stablehlo.subtract"(%145, %arg11) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %147 = "stablehlo.multiply"(%146, %146) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %148 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %149 = "stablehlo.broadcast_in_dim"(%148) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %150 = "stablehlo.multiply"(%149, %146) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %151 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %152 = "stablehlo.reduce"(%147, %151) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg42: tensor<f32>, %arg43: tensor<f32>):
      %337 = "stablehlo.add"(%arg42, %arg43) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%337) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<f32>
    %153 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %154 = "stablehlo.divide"(%152, %153) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %155 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %156 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %157 = "stablehlo.divide"(%155, %156) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %158 = "stablehlo.broadcast_in_dim"(%157) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %159 = "stablehlo.multiply"(%158, %150) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %160 = "stablehlo.dot_general"(%159, %143) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x256xf32>) -> tensor<64x256xf32>
    %161 = "stablehlo.transpose"(%160) <{permutation = array<i64: 1, 0>}> : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %162 = "stablehlo.dot_general"(%159, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<256x64xf32>) -> tensor<16x32x256xf32>
    %163 = "stablehlo.multiply"(%119, %162) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %164 = "stablehlo.multiply"(%162, %142) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %165 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %166 = "stablehlo.broadcast_in_dim"(%165) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %167 = "stablehlo.multiply"(%166, %163) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %168 = "stablehlo.multiply"(%167, %136) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %169 = "stablehlo.multiply"(%168, %133) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %170 = "stablehlo.add"(%168, %169) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %171 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %172 = "stablehlo.broadcast_in_dim"(%171) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %173 = "stablehlo.multiply"(%172, %170) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %174 = "stablehlo.add"(%164, %173) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %175 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %176 = "stablehlo.broadcast_in_dim"(%175) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x256xf32>
    %177 = "stablehlo.multiply"(%176, %173) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %178 = "stablehlo.multiply"(%177, %125) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %179 = "stablehlo.add"(%174, %178) : (tensor<16x32x256xf32>, tensor<16x32x256xf32>) -> tensor<16x32x256xf32>
    %180 = "stablehlo.dot_general"(%179, %118) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x256xf32>, tensor<16x32x64xf32>) -> tensor<256x64xf32>
    %181 = "stablehlo.transpose"(%180) <{permutation = array<i64: 1, 0>}> : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %182 = "stablehlo.dot_general"(%179, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x256xf32>, tensor<64x256xf32>) -> tensor<16x32x64xf32>
    %183 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %184 = "stablehlo.reduce"(%182, %183) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg40: tensor<f32>, %arg41: tensor<f32>):
      %336 = "stablehlo.add"(%arg40, %arg41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%336) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %185 = "stablehlo.reshape"(%184) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %186 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %187 = "stablehlo.reduce"(%185, %186) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg38: tensor<f32>, %arg39: tensor<f32>):
      %335 = "stablehlo.add"(%arg38, %arg39) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%335) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %188 = "stablehlo.multiply"(%112, %182) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %189 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %190 = "stablehlo.reduce"(%188, %189) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg36: tensor<f32>, %arg37: tensor<f32>):
      %334 = "stablehlo.add"(%arg36, %arg37) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%334) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %191 = "stablehlo.reshape"(%190) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %192 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x64xf32>) -> tensor<16x32x64xf32>
    %193 = "stablehlo.multiply"(%182, %192) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %194 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %195 = "stablehlo.reduce"(%191, %194) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg34: tensor<f32>, %arg35: tensor<f32>):
      %333 = "stablehlo.add"(%arg34, %arg35) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%333) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %196 = "stablehlo.multiply"(%102, %193) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %197 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %198 = "stablehlo.reduce"(%196, %197) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg32: tensor<f32>, %arg33: tensor<f32>):
      %332 = "stablehlo.add"(%arg32, %arg33) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%332) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %199 = "stablehlo.reshape"(%198) : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %200 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x64xf32>
    %201 = "stablehlo.multiply"(%193, %200) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %202 = "stablehlo.multiply"(%199, %110) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %203 = "stablehlo.negate"(%201) : (tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %204 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %205 = "stablehlo.reduce"(%203, %204) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg30: tensor<f32>, %arg31: tensor<f32>):
      %331 = "stablehlo.add"(%arg30, %arg31) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%331) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %206 = "stablehlo.reshape"(%205) : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %207 = "stablehlo.add"(%159, %201) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %208 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %209 = "stablehlo.broadcast_in_dim"(%208) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %210 = "stablehlo.divide"(%202, %209) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %211 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %212 = "stablehlo.reduce"(%210, %211) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg28: tensor<f32>, %arg29: tensor<f32>):
      %330 = "stablehlo.add"(%arg28, %arg29) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%330) : (tensor<f32>) -> ()
    }) : (tensor<16x32x1xf32>, tensor<f32>) -> tensor<16x32xf32>
    %213 = "stablehlo.broadcast_in_dim"(%212) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x64xf32>
    %214 = "stablehlo.multiply"(%213, %94) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %215 = "stablehlo.negate"(%214) : (tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %216 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %217 = "stablehlo.reduce"(%215, %216) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg26: tensor<f32>, %arg27: tensor<f32>):
      %329 = "stablehlo.add"(%arg26, %arg27) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%329) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<16x32xf32>
    %218 = "stablehlo.reshape"(%217) : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %219 = "stablehlo.add"(%207, %214) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %220 = "stablehlo.add"(%206, %218) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %221 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %222 = "stablehlo.broadcast_in_dim"(%221) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %223 = "stablehlo.divide"(%220, %222) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %224 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %225 = "stablehlo.reduce"(%223, %224) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %328 = "stablehlo.add"(%arg24, %arg25) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%328) : (tensor<f32>) -> ()
    }) : (tensor<16x32x1xf32>, tensor<f32>) -> tensor<16x32xf32>
    %226 = "stablehlo.broadcast_in_dim"(%225) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x64xf32>
    %227 = "stablehlo.add"(%219, %226) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %228 = "stablehlo.dot_general"(%227, %80) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %229 = "stablehlo.transpose"(%228) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %230 = "stablehlo.dot_general"(%227, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %231 = "stablehlo.reshape"(%230) : (tensor<16x32x64xf32>) -> tensor<16x32x4x16xf32>
    %232 = "stablehlo.transpose"(%231) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<16x32x4x16xf32>) -> tensor<16x4x16x32xf32>
    %233 = "stablehlo.dot_general"(%232, %34) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x32xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x32xf32>
    %234 = "stablehlo.dot_general"(%232, %73) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x16x32xf32>
    %235 = "stablehlo.transpose"(%234) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<16x4x16x32xf32>) -> tensor<16x32x4x16xf32>
    %236 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %237 = "stablehlo.multiply"(%233, %236) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %238 = "stablehlo.multiply"(%237, %68) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %239 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %240 = "stablehlo.reduce"(%238, %239) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg22: tensor<f32>, %arg23: tensor<f32>):
      %327 = "stablehlo.add"(%arg22, %arg23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%327) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %241 = "stablehlo.reshape"(%240) : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %242 = "stablehlo.negate"(%241) : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x1xf32>
    %243 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %244 = "stablehlo.divide"(%233, %243) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %245 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %246 = "stablehlo.reduce"(%242, %245) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
      %326 = "stablehlo.add"(%arg20, %arg21) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%326) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x1xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %247 = "stablehlo.broadcast_in_dim"(%246) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x32xf32>) -> tensor<16x4x32x32xf32>
    %248 = "stablehlo.add"(%244, %247) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %249 = "stablehlo.multiply"(%248, %68) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %250 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %251 = "stablehlo.broadcast_in_dim"(%250) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32x32xf32>
    %252 = "stablehlo.divide"(%249, %251) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %253 = "stablehlo.dot_general"(%252, %30) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x32x32xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x16xf32>
    %254 = "stablehlo.transpose"(%253) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x32x16xf32>) -> tensor<16x32x4x16xf32>
    %255 = "stablehlo.dot_general"(%252, %32) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x32x32xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x16xf32>
    %256 = "stablehlo.transpose"(%255) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x32x16xf32>) -> tensor<16x32x4x16xf32>
    %257 = "stablehlo.reshape"(%235) : (tensor<16x32x4x16xf32>) -> tensor<16x32x64xf32>
    %258 = "stablehlo.dot_general"(%257, %28) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %259 = "stablehlo.transpose"(%258) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %260 = "stablehlo.dot_general"(%257, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %261 = "stablehlo.reshape"(%254) : (tensor<16x32x4x16xf32>) -> tensor<16x32x64xf32>
    %262 = "stablehlo.dot_general"(%261, %28) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %263 = "stablehlo.transpose"(%262) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %264 = "stablehlo.dot_general"(%261, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %265 = "stablehlo.add"(%260, %264) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %266 = "stablehlo.reshape"(%256) : (tensor<16x32x4x16xf32>) -> tensor<16x32x64xf32>
    %267 = "stablehlo.dot_general"(%266, %28) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %268 = "stablehlo.transpose"(%267) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %269 = "stablehlo.dot_general"(%266, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %270 = "stablehlo.add"(%265, %269) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %271 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %272 = "stablehlo.reduce"(%270, %271) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %325 = "stablehlo.add"(%arg18, %arg19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%325) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %273 = "stablehlo.reshape"(%272) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %274 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %275 = "stablehlo.reduce"(%273, %274) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %324 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%324) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %276 = "stablehlo.multiply"(%22, %270) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %277 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %278 = "stablehlo.reduce"(%276, %277) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %323 = "stablehlo.add"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%323) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %279 = "stablehlo.reshape"(%278) : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %280 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %281 = "stablehlo.reduce"(%279, %280) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %322 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%322) : (tensor<f32>) -> ()
    }) : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %282 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %283 = "stablehlo.broadcast_in_dim"(%282) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %284 = "stablehlo.multiply"(%283, %275) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %285 = "stablehlo.subtract"(%arg0, %284) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %286 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %287 = "stablehlo.broadcast_in_dim"(%286) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %288 = "stablehlo.multiply"(%287, %187) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %289 = "stablehlo.subtract"(%arg1, %288) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %290 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %291 = "stablehlo.broadcast_in_dim"(%290) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %292 = "stablehlo.multiply"(%291, %281) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %293 = "stablehlo.subtract"(%arg2, %292) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %294 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %295 = "stablehlo.broadcast_in_dim"(%294) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %296 = "stablehlo.multiply"(%295, %195) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %297 = "stablehlo.subtract"(%arg3, %296) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %298 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %299 = "stablehlo.broadcast_in_dim"(%298) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %300 = "stablehlo.multiply"(%299, %181) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %301 = "stablehlo.subtract"(%arg4, %300) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %302 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %303 = "stablehlo.broadcast_in_dim"(%302) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %304 = "stablehlo.multiply"(%303, %161) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %305 = "stablehlo.subtract"(%arg5, %304) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %306 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %307 = "stablehlo.broadcast_in_dim"(%306) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %308 = "stablehlo.multiply"(%307, %263) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %309 = "stablehlo.subtract"(%arg6, %308) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %310 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %311 = "stablehlo.broadcast_in_dim"(%310) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %312 = "stablehlo.multiply"(%311, %229) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %313 = "stablehlo.subtract"(%arg7, %312) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %314 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %315 = "stablehlo.broadcast_in_dim"(%314) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %316 = "stablehlo.multiply"(%315, %268) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %317 = "stablehlo.subtract"(%arg8, %316) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %318 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %319 = "stablehlo.broadcast_in_dim"(%318) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %320 = "stablehlo.multiply"(%319, %259) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %321 = "stablehlo.subtract"(%arg9, %320) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%285, %289, %293, %297, %301, %305, %309, %313, %317, %321, %154) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
