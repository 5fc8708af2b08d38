"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=8]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 8 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<256xf32>, tensor<64xf32>, tensor<256xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<256xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<256xf32>, tensor<64xf32>, tensor<256xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<256xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['b1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {jax.result_info = "result[0]['b2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {jax.result_info = "result[0]['m_b1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {jax.result_info = "result[0]['m_b2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {jax.result_info = "result[0]['m_w1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['m_w2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['v_b1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {jax.result_info = "result[0]['v_b2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {jax.result_info = "result[0]['v_w1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['v_w2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<256xf32>, %arg2: tensor<64xf32>, %arg3: tensor<256xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64x256xf32>, %arg6: tensor<256x64xf32>, %arg7: tensor<256xf32>, %arg8: tensor<64xf32>, %arg9: tensor<64x256xf32>, %arg10: tensor<256x64xf32>, %arg11: tensor<64x256xf32>, %arg12: tensor<256x64xf32>, %arg13: tensor<64x64xf32>, %arg14: tensor<64x64xf32>):
    %3 = "stablehlo.dot_general"(%arg13, %arg11) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %4 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<256xf32>) -> tensor<1x256xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x256xf32>) -> tensor<64x256xf32>
    %6 = "stablehlo.add"(%3, %5) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %7 = "func.call"(%6) <{callee = @relu}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %10 = "stablehlo.compare"(%6, %9) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xi1>
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %13 = "stablehlo.dot_general"(%7, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
    %14 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<1x64xf32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x64xf32>) -> tensor<64x64xf32>
    %16 = "stablehlo.add"(%13, %15) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %17 = "stablehlo.subtract"(%16, %arg14) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %18 = "stablehlo.multiply"(%17, %17) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %19 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %21 = "stablehlo.multiply"(%20, %17) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %22 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.reduce"(%18, %22) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %149 = "stablehlo.add"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%149) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
    %24 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.divide"(%23, %24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %26 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.divide"(%26, %27) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %30 = "stablehlo.multiply"(%29, %21) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %31 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.reduce"(%30, %31) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg21: tensor<f32>, %arg22: tensor<f32>):
      %148 = "stablehlo.add"(%arg21, %arg22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%148) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
    %33 = "stablehlo.reshape"(%32) : (tensor<64xf32>) -> tensor<1x64xf32>
    %34 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.reduce"(%33, %34) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %147 = "stablehlo.add"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%147) : (tensor<f32>) -> ()
    }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %36 = "stablehlo.dot_general"(%30, %7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %37 = "stablehlo.transpose"(%36) <{permutation = array<i64: 1, 0>}> : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %38 = "stablehlo.dot_general"(%30, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<256x64xf32>) -> tensor<64x256xf32>
    %39 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %41 = "stablehlo.select"(%10, %38, %40) : (tensor<64x256xi1>, tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %42 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.reduce"(%41, %42) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %146 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%146) : (tensor<f32>) -> ()
    }) : (tensor<64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %44 = "stablehlo.reshape"(%43) : (tensor<256xf32>) -> tensor<1x256xf32>
    %45 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.reduce"(%44, %45) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %145 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%145) : (tensor<f32>) -> ()
    }) : (tensor<1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %47 = "stablehlo.dot_general"(%41, %arg13) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
    %48 = "stablehlo.transpose"(%47) <{permutation = array<i64: 1, 0>}> : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %49 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256xf32>
    %51 = "stablehlo.multiply"(%50, %arg3) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %52 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256xf32>
    %54 = "stablehlo.multiply"(%53, %46) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %55 = "stablehlo.add"(%51, %54) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %56 = "stablehlo.constant"() <{value = dense<9.900000e-01> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256xf32>
    %58 = "stablehlo.multiply"(%57, %arg7) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %59 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256xf32>
    %61 = "stablehlo.multiply"(%60, %46) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %62 = "stablehlo.multiply"(%61, %46) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %63 = "stablehlo.add"(%58, %62) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %64 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256xf32>
    %66 = "stablehlo.multiply"(%65, %55) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %67 = "stablehlo.sqrt"(%63) : (tensor<256xf32>) -> tensor<256xf32>
    %68 = "stablehlo.constant"() <{value = dense<9.99999997E-7> : tensor<f32>}> : () -> tensor<f32>
    %69 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256xf32>
    %70 = "stablehlo.add"(%67, %69) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %71 = "stablehlo.divide"(%66, %70) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %72 = "stablehlo.subtract"(%arg1, %71) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %73 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %75 = "stablehlo.multiply"(%74, %arg4) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %76 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %78 = "stablehlo.multiply"(%77, %35) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %79 = "stablehlo.add"(%75, %78) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %80 = "stablehlo.constant"() <{value = dense<9.900000e-01> : tensor<f32>}> : () -> tensor<f32>
    %81 = "stablehlo.broadcast_in_dim"(%80) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %82 = "stablehlo.multiply"(%81, %arg8) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %83 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %85 = "stablehlo.multiply"(%84, %35) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %86 = "stablehlo.multiply"(%85, %35) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %87 = "stablehlo.add"(%82, %86) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %88 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %90 = "stablehlo.multiply"(%89, %79) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %91 = "stablehlo.sqrt"(%87) : (tensor<64xf32>) -> tensor<64xf32>
    %92 = "stablehlo.constant"() <{value = dense<9.99999997E-7> : tensor<f32>}> : () -> tensor<f32>
    %93 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %94 = "stablehlo.add"(%91, %93) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %95 = "stablehlo.divide"(%90, %94) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %96 = "stablehlo.subtract"(%arg2, %95) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %97 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %99 = "stablehlo.multiply"(%98, %arg5) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %100 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %102 = "stablehlo.multiply"(%101, %48) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %103 = "stablehlo.add"(%99, %102) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %104 = "stablehlo.constant"() <{value = dense<9.900000e-01> : tensor<f32>}> : () -> tensor<f32>
    %105 = "stablehlo.broadcast_in_dim"(%104) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %106 = "stablehlo.multiply"(%105, %arg9) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %107 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %108 = "stablehlo.broadcast_in_dim"(%107) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %109 = "stablehlo.multiply"(%108, %48) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %110 = "stablehlo.multiply"(%109, %48) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %111 = "stablehlo.add"(%106, %110) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %112 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %113 = "stablehlo.broadcast_in_dim"(%112) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %114 = "stablehlo.multiply"(%113, %103) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %115 = "stablehlo.sqrt"(%111) : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %116 = "stablehlo.constant"() <{value = dense<9.99999997E-7> : tensor<f32>}> : () -> tensor<f32>
    %117 = "stablehlo.broadcast_in_dim"(%116) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %118 = "stablehlo.add"(%115, %117) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %119 = "stablehlo.divide"(%114, %118) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %120 = "stablehlo.subtract"(%arg11, %119) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %121 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %122 = "stablehlo.broadcast_in_dim"(%121) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %123 = "stablehlo.multiply"(%122, %arg6) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %124 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %125 = "stablehlo.broadcast_in_dim"(%124) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %126 = "stablehlo.multiply"(%125, %37) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %127 = "stablehlo.add"(%123, %126) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %128 = "stablehlo.constant"() <{value = dense<9.900000e-01> : tensor<f32>}> : () -> tensor<f32>
    %129 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %130 = "stablehlo.multiply"(%129, %arg10) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %131 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %132 = "stablehlo.broadcast_in_dim"(%131) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %133 = "stablehlo.multiply"(%132, %37) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %134 = "stablehlo.multiply"(%133, %37) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %135 = "stablehlo.add"(%130, %134) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %136 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %137 = "stablehlo.broadcast_in_dim"(%136) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %138 = "stablehlo.multiply"(%137, %127) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %139 = "stablehlo.sqrt"(%135) : (tensor<256x64xf32>) -> tensor<256x64xf32>
    %140 = "stablehlo.constant"() <{value = dense<9.99999997E-7> : tensor<f32>}> : () -> tensor<f32>
    %141 = "stablehlo.broadcast_in_dim"(%140) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %142 = "stablehlo.add"(%139, %141) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %143 = "stablehlo.divide"(%138, %142) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %144 = "stablehlo.subtract"(%arg12, %143) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    "func.return"(%72, %96, %55, %79, %103, %127, %63, %87, %111, %135, %120, %144, %25) : (tensor<256xf32>, tensor<64xf32>, tensor<256xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<256xf32>, tensor<64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x256xf32>) -> tensor<64x256xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64x256xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    "func.return"(%2) : (tensor<64x256xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
