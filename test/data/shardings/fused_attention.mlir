"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=4, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}], function_type = (tensor<64x64xf32>, tensor<64x192xf32>, tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> (tensor<64x64xf32>, tensor<64x192xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['wo']", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {jax.result_info = "result[0]['wqkv']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<64x64xf32>, %arg1: tensor<64x192xf32>, %arg2: tensor<16x32x64xf32>, %arg3: tensor<16x32x64xf32>):
    %0 = "stablehlo.dot_general"(%arg2, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x192xf32>) -> tensor<16x32x192xf32>
    %1 = "stablehlo.reshape"(%0) : (tensor<16x32x192xf32>) -> tensor<16x32x4x3x16xf32>
    %2 = "stablehlo.slice"(%1) <{limit_indices = array<i64: 16, 32, 4, 1, 16>, start_indices = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<16x32x4x3x16xf32>) -> tensor<16x32x4x1x16xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<16x32x4x1x16xf32>) -> tensor<16x32x4x16xf32>
    %4 = "stablehlo.slice"(%1) <{limit_indices = array<i64: 16, 32, 4, 2, 16>, start_indices = array<i64: 0, 0, 0, 1, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<16x32x4x3x16xf32>) -> tensor<16x32x4x1x16xf32>
    %5 = "stablehlo.reshape"(%4) : (tensor<16x32x4x1x16xf32>) -> tensor<16x32x4x16xf32>
    %6 = "stablehlo.slice"(%1) <{limit_indices = array<i64: 16, 32, 4, 3, 16>, start_indices = array<i64: 0, 0, 0, 2, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<16x32x4x3x16xf32>) -> tensor<16x32x4x1x16xf32>
    %7 = "stablehlo.reshape"(%6) : (tensor<16x32x4x1x16xf32>) -> tensor<16x32x4x16xf32>
    %8 = "stablehlo.dot_general"(%3, %5) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x4x16xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x32xf32>
    %9 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.reduce"(%8, %9) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %119 = "stablehlo.maximum"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%119) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %11 = "stablehlo.reshape"(%10) : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %13 = "stablehlo.compare"(%8, %12) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xi1>
    %14 = "stablehlo.convert"(%13) : (tensor<16x4x32x32xi1>) -> tensor<16x4x32x32xf32>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%14, %15) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %118 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%118) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %17 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %19 = "stablehlo.maximum"(%18, %10) : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %20 = "stablehlo.compare"(%10, %19) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xi1>
    %21 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %23 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %25 = "stablehlo.select"(%20, %22, %24) : (tensor<16x4x32xi1>, tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %26 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %28 = "stablehlo.compare"(%27, %19) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xi1>
    %29 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %31 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32xf32>
    %33 = "stablehlo.select"(%28, %30, %32) : (tensor<16x4x32xi1>, tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %34 = "stablehlo.divide"(%25, %33) : (tensor<16x4x32xf32>, tensor<16x4x32xf32>) -> tensor<16x4x32xf32>
    %35 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %37 = "stablehlo.subtract"(%8, %36) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %38 = "stablehlo.exponential"(%37) : (tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %39 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.reduce"(%38, %39) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %117 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%117) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %43 = "stablehlo.divide"(%38, %42) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %44 = "stablehlo.multiply"(%41, %41) : (tensor<16x4x32x1xf32>, tensor<16x4x32x1xf32>) -> tensor<16x4x32x1xf32>
    %45 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x32x1xf32>
    %47 = "stablehlo.divide"(%46, %44) : (tensor<16x4x32x1xf32>, tensor<16x4x32x1xf32>) -> tensor<16x4x32x1xf32>
    %48 = "stablehlo.dot_general"(%7, %43) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x4x16xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x16x32xf32>
    %49 = "stablehlo.transpose"(%48) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<16x4x16x32xf32>) -> tensor<16x32x4x16xf32>
    %50 = "stablehlo.reshape"(%49) : (tensor<16x32x4x16xf32>) -> tensor<16x32x64xf32>
    %51 = "stablehlo.dot_general"(%50, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %52 = "stablehlo.subtract"(%51, %arg3) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %53 = "stablehlo.multiply"(%52, %52) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %54 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %56 = "stablehlo.multiply"(%55, %52) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %57 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %58 = "stablehlo.reduce"(%53, %57) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %116 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%116) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<f32>
    %59 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.divide"(%58, %59) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %61 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %62 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.divide"(%61, %62) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %64 = "stablehlo.broadcast_in_dim"(%63) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %65 = "stablehlo.multiply"(%64, %56) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %66 = "stablehlo.dot_general"(%65, %50) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %67 = "stablehlo.transpose"(%66) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %68 = "stablehlo.dot_general"(%65, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %69 = "stablehlo.reshape"(%68) : (tensor<16x32x64xf32>) -> tensor<16x32x4x16xf32>
    %70 = "stablehlo.transpose"(%69) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<16x32x4x16xf32>) -> tensor<16x4x16x32xf32>
    %71 = "stablehlo.dot_general"(%70, %7) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x32xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x32xf32>
    %72 = "stablehlo.dot_general"(%70, %43) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x16x32xf32>
    %73 = "stablehlo.transpose"(%72) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<16x4x16x32xf32>) -> tensor<16x32x4x16xf32>
    %74 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %75 = "stablehlo.multiply"(%71, %74) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %76 = "stablehlo.multiply"(%75, %38) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %77 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.reduce"(%76, %77) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %115 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%115) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x32xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %79 = "stablehlo.reshape"(%78) : (tensor<16x4x32xf32>) -> tensor<16x4x32x1xf32>
    %80 = "stablehlo.negate"(%79) : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x1xf32>
    %81 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x32x1xf32>) -> tensor<16x4x32x32xf32>
    %82 = "stablehlo.divide"(%71, %81) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %83 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.reduce"(%80, %83) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %114 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%114) : (tensor<f32>) -> ()
    }) : (tensor<16x4x32x1xf32>, tensor<f32>) -> tensor<16x4x32xf32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x32xf32>) -> tensor<16x4x32x32xf32>
    %86 = "stablehlo.add"(%82, %85) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %87 = "stablehlo.multiply"(%86, %38) : (tensor<16x4x32x32xf32>, tensor<16x4x32x32xf32>) -> tensor<16x4x32x32xf32>
    %88 = "stablehlo.dot_general"(%87, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x32x32xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x16xf32>
    %89 = "stablehlo.transpose"(%88) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x32x16xf32>) -> tensor<16x32x4x16xf32>
    %90 = "stablehlo.dot_general"(%87, %5) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x32x32xf32>, tensor<16x32x4x16xf32>) -> tensor<16x4x32x16xf32>
    %91 = "stablehlo.transpose"(%90) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x32x16xf32>) -> tensor<16x32x4x16xf32>
    %92 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<16x32x4x16xf32>) -> tensor<16x32x4x1x16xf32>
    %93 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %94 = "stablehlo.pad"(%92, %93) <{edge_padding_high = array<i64: 0, 0, 0, 0, 0>, edge_padding_low = array<i64: 0, 0, 0, 2, 0>, interior_padding = array<i64: 0, 0, 0, 0, 0>}> : (tensor<16x32x4x1x16xf32>, tensor<f32>) -> tensor<16x32x4x3x16xf32>
    %95 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<16x32x4x16xf32>) -> tensor<16x32x4x1x16xf32>
    %96 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %97 = "stablehlo.pad"(%95, %96) <{edge_padding_high = array<i64: 0, 0, 0, 1, 0>, edge_padding_low = array<i64: 0, 0, 0, 1, 0>, interior_padding = array<i64: 0, 0, 0, 0, 0>}> : (tensor<16x32x4x1x16xf32>, tensor<f32>) -> tensor<16x32x4x3x16xf32>
    %98 = "stablehlo.add"(%94, %97) : (tensor<16x32x4x3x16xf32>, tensor<16x32x4x3x16xf32>) -> tensor<16x32x4x3x16xf32>
    %99 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<16x32x4x16xf32>) -> tensor<16x32x4x1x16xf32>
    %100 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.pad"(%99, %100) <{edge_padding_high = array<i64: 0, 0, 0, 2, 0>, edge_padding_low = array<i64: 0, 0, 0, 0, 0>, interior_padding = array<i64: 0, 0, 0, 0, 0>}> : (tensor<16x32x4x1x16xf32>, tensor<f32>) -> tensor<16x32x4x3x16xf32>
    %102 = "stablehlo.add"(%98, %101) : (tensor<16x32x4x3x16xf32>, tensor<16x32x4x3x16xf32>) -> tensor<16x32x4x3x16xf32>
    %103 = "stablehlo.reshape"(%102) : (tensor<16x32x4x3x16xf32>) -> tensor<16x32x192xf32>
    %104 = "stablehlo.dot_general"(%103, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x192xf32>, tensor<16x32x64xf32>) -> tensor<192x64xf32>
    %105 = "stablehlo.transpose"(%104) <{permutation = array<i64: 1, 0>}> : (tensor<192x64xf32>) -> tensor<64x192xf32>
    %106 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %108 = "stablehlo.multiply"(%107, %67) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %109 = "stablehlo.subtract"(%arg0, %108) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %110 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x192xf32>
    %112 = "stablehlo.multiply"(%111, %105) : (tensor<64x192xf32>, tensor<64x192xf32>) -> tensor<64x192xf32>
    %113 = "stablehlo.subtract"(%arg1, %112) : (tensor<64x192xf32>, tensor<64x192xf32>) -> tensor<64x192xf32>
    "func.return"(%109, %113, %60) : (tensor<64x64xf32>, tensor<64x192xf32>, tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
