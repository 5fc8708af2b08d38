"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=4, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}], function_type = (tensor<64x512xf32>, tensor<64x64xf32>, tensor<64xi32>) -> (tensor<64x512xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['w']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<64x512xf32>, %arg2: tensor<64x64xf32>, %arg3: tensor<64xi32>):
    %6 = "stablehlo.dot_general"(%arg2, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    %7 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.reduce"(%6, %7) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %126 = "stablehlo.maximum"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%126) : (tensor<f32>) -> ()
    }) : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
    %9 = "stablehlo.reshape"(%8) : (tensor<64xf32>) -> tensor<64x1xf32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x512xf32>
    %11 = "stablehlo.compare"(%6, %10) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xi1>
    %12 = "stablehlo.convert"(%11) : (tensor<64x512xi1>) -> tensor<64x512xf32>
    %13 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.reduce"(%12, %13) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %125 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%125) : (tensor<f32>) -> ()
    }) : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
    %15 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %17 = "stablehlo.maximum"(%16, %8) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %18 = "stablehlo.compare"(%8, %17) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %19 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %21 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %23 = "stablehlo.select"(%18, %20, %22) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %24 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %26 = "stablehlo.compare"(%25, %17) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %27 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %29 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %31 = "stablehlo.select"(%26, %28, %30) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %32 = "stablehlo.divide"(%23, %31) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %33 = "stablehlo.is_finite"(%17) : (tensor<64xf32>) -> tensor<64xi1>
    %34 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %36 = "stablehlo.select"(%33, %17, %35) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %37 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %39 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1xf32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x512xf32>
    %41 = "stablehlo.subtract"(%6, %40) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    %42 = "stablehlo.exponential"(%41) : (tensor<64x512xf32>) -> tensor<64x512xf32>
    %43 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %44 = "stablehlo.reduce"(%42, %43) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %124 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%124) : (tensor<f32>) -> ()
    }) : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
    %45 = "stablehlo.sign"(%44) : (tensor<64xf32>) -> tensor<64xf32>
    %46 = "stablehlo.abs"(%44) : (tensor<64xf32>) -> tensor<64xf32>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %49 = "stablehlo.compare"(%44, %48) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %50 = "stablehlo.log"(%46) : (tensor<64xf32>) -> tensor<64xf32>
    %51 = "stablehlo.add"(%50, %36) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %52 = "func.call"(%arg3) <{callee = @_one_hot}> : (tensor<64xi32>) -> tensor<64x512xf32>
    %53 = "stablehlo.multiply"(%52, %6) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    %54 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.reduce"(%53, %54) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %123 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%123) : (tensor<f32>) -> ()
    }) : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
    %56 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %58 = "stablehlo.multiply"(%57, %55) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %59 = "stablehlo.subtract"(%51, %58) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %60 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.reduce"(%6, %60) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %122 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%122) : (tensor<f32>) -> ()
    }) : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
    %62 = "stablehlo.constant"() <{value = dense<5.120000e+02> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %64 = "stablehlo.divide"(%61, %63) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %65 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %67 = "stablehlo.multiply"(%66, %64) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %68 = "stablehlo.subtract"(%59, %67) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %69 = "stablehlo.multiply"(%51, %51) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %70 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %71 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %72 = "stablehlo.multiply"(%71, %51) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %73 = "stablehlo.constant"() <{value = dense<9.99999974E-5> : tensor<f32>}> : () -> tensor<f32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %75 = "stablehlo.multiply"(%74, %69) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %76 = "stablehlo.add"(%68, %75) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %77 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.reduce"(%76, %77) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %121 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%121) : (tensor<f32>) -> ()
    }) : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
    %79 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %80 = "stablehlo.divide"(%78, %79) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %81 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %82 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.divide"(%81, %82) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %85 = "stablehlo.constant"() <{value = dense<9.99999974E-5> : tensor<f32>}> : () -> tensor<f32>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %87 = "stablehlo.multiply"(%86, %84) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %88 = "stablehlo.multiply"(%87, %72) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %89 = "stablehlo.negate"(%84) : (tensor<64xf32>) -> tensor<64xf32>
    %90 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %91 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %92 = "stablehlo.multiply"(%91, %89) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %93 = "stablehlo.constant"() <{value = dense<5.120000e+02> : tensor<f32>}> : () -> tensor<f32>
    %94 = "stablehlo.broadcast_in_dim"(%93) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %95 = "stablehlo.divide"(%92, %94) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %96 = "stablehlo.broadcast_in_dim"(%95) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x512xf32>
    %97 = "stablehlo.negate"(%84) : (tensor<64xf32>) -> tensor<64xf32>
    %98 = "stablehlo.add"(%88, %84) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %99 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %100 = "stablehlo.broadcast_in_dim"(%99) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %101 = "stablehlo.multiply"(%100, %97) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x512xf32>
    %103 = "stablehlo.multiply"(%52, %102) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    %104 = "stablehlo.add"(%96, %103) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    %105 = "stablehlo.divide"(%98, %46) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %106 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %108 = "stablehlo.select"(%49, %107, %105) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %109 = "stablehlo.select"(%49, %105, %107) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %110 = "stablehlo.negate"(%108) : (tensor<64xf32>) -> tensor<64xf32>
    %111 = "stablehlo.add"(%109, %110) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %112 = "stablehlo.broadcast_in_dim"(%111) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x512xf32>
    %113 = "stablehlo.multiply"(%112, %42) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    %114 = "stablehlo.add"(%104, %113) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    %115 = "stablehlo.dot_general"(%114, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x512xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
    %116 = "stablehlo.transpose"(%115) <{permutation = array<i64: 1, 0>}> : (tensor<512x64xf32>) -> tensor<64x512xf32>
    %117 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x512xf32>
    %119 = "stablehlo.multiply"(%118, %116) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    %120 = "stablehlo.subtract"(%arg1, %119) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    "func.return"(%120, %80) : (tensor<64x512xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64xi32>) -> tensor<64x512xf32>, res_attrs = [{}], sym_name = "_one_hot", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64xi32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xi32>) -> tensor<64x1xi32>
    %1 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x512xi32>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xi32>) -> tensor<64x512xi32>
    %3 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x512xi32>) -> tensor<64x512xi32>
    %4 = "stablehlo.compare"(%2, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64x512xi32>, tensor<64x512xi32>) -> tensor<64x512xi1>
    %5 = "stablehlo.convert"(%4) : (tensor<64x512xi1>) -> tensor<64x512xf32>
    "func.return"(%5) : (tensor<64x512xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
