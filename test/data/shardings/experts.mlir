"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "ep"=4]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "ep", size = 4 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"ep"}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"ep"}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<64x8xf32>, tensor<8x64x256xf32>, tensor<8x256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x8xf32>, tensor<8x64x256xf32>, tensor<8x256x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['gate']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{"ep"}, {}, {}]>}, {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"ep"}, {}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<64x8xf32>, %arg2: tensor<8x64x256xf32>, %arg3: tensor<8x256x64xf32>, %arg4: tensor<64x64xf32>, %arg5: tensor<64x64xf32>):
    %3 = "stablehlo.dot_general"(%arg4, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %4 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.reduce"(%3, %4) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %115 = "stablehlo.maximum"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%115) : (tensor<f32>) -> ()
    }) : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %6 = "stablehlo.reshape"(%5) : (tensor<64xf32>) -> tensor<64x1xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %8 = "stablehlo.compare"(%3, %7) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xi1>
    %9 = "stablehlo.convert"(%8) : (tensor<64x8xi1>) -> tensor<64x8xf32>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.reduce"(%9, %10) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %114 = "stablehlo.add"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%114) : (tensor<f32>) -> ()
    }) : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %12 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %14 = "stablehlo.maximum"(%13, %5) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %15 = "stablehlo.compare"(%5, %14) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %16 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %18 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %20 = "stablehlo.select"(%15, %17, %19) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %21 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %23 = "stablehlo.compare"(%22, %14) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %24 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %26 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %28 = "stablehlo.select"(%23, %25, %27) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %29 = "stablehlo.divide"(%20, %28) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %30 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1xf32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %32 = "stablehlo.subtract"(%3, %31) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %33 = "stablehlo.exponential"(%32) : (tensor<64x8xf32>) -> tensor<64x8xf32>
    %34 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.reduce"(%33, %34) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %113 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%113) : (tensor<f32>) -> ()
    }) : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1xf32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %38 = "stablehlo.divide"(%33, %37) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %39 = "stablehlo.multiply"(%36, %36) : (tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
    %40 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x1xf32>
    %42 = "stablehlo.divide"(%41, %39) : (tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
    %43 = "stablehlo.dot_general"(%arg4, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<8x64x256xf32>) -> tensor<64x8x256xf32>
    %44 = "sdy.sharding_constraint"(%43) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"ep"}, {}]>}> : (tensor<64x8x256xf32>) -> tensor<64x8x256xf32>
    %45 = "func.call"(%44) <{callee = @relu}> : (tensor<64x8x256xf32>) -> tensor<64x8x256xf32>
    %46 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x8x256xf32>
    %48 = "stablehlo.compare"(%44, %47) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<64x8x256xf32>, tensor<64x8x256xf32>) -> tensor<64x8x256xi1>
    %49 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x8x256xf32>
    %51 = "stablehlo.dot_general"(%arg3, %45) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x256x64xf32>, tensor<64x8x256xf32>) -> tensor<8x64x64xf32>
    %52 = "stablehlo.transpose"(%51) <{permutation = array<i64: 2, 0, 1>}> : (tensor<8x64x64xf32>) -> tensor<64x8x64xf32>
    %53 = "stablehlo.dot_general"(%52, %38) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x8x64xf32>, tensor<64x8xf32>) -> tensor<64x64xf32>
    %54 = "stablehlo.subtract"(%53, %arg5) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %55 = "stablehlo.multiply"(%54, %54) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %56 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %58 = "stablehlo.multiply"(%57, %54) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %59 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.reduce"(%55, %59) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %112 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%112) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
    %61 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %62 = "stablehlo.divide"(%60, %61) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %63 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %64 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.divide"(%63, %64) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %67 = "stablehlo.multiply"(%66, %58) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %68 = "stablehlo.dot_general"(%67, %52) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x8x64xf32>) -> tensor<64x8xf32>
    %69 = "stablehlo.dot_general"(%67, %38) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x8xf32>) -> tensor<64x64x8xf32>
    %70 = "stablehlo.transpose"(%69) <{permutation = array<i64: 0, 2, 1>}> : (tensor<64x64x8xf32>) -> tensor<64x8x64xf32>
    %71 = "stablehlo.transpose"(%70) <{permutation = array<i64: 1, 2, 0>}> : (tensor<64x8x64xf32>) -> tensor<8x64x64xf32>
    %72 = "stablehlo.dot_general"(%71, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x64x64xf32>, tensor<8x256x64xf32>) -> tensor<8x64x256xf32>
    %73 = "stablehlo.transpose"(%72) <{permutation = array<i64: 1, 0, 2>}> : (tensor<8x64x256xf32>) -> tensor<64x8x256xf32>
    %74 = "stablehlo.dot_general"(%71, %45) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x64x64xf32>, tensor<64x8x256xf32>) -> tensor<8x64x256xf32>
    %75 = "stablehlo.transpose"(%74) <{permutation = array<i64: 0, 2, 1>}> : (tensor<8x64x256xf32>) -> tensor<8x256x64xf32>
    %76 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x8x256xf32>
    %78 = "stablehlo.select"(%48, %73, %77) : (tensor<64x8x256xi1>, tensor<64x8x256xf32>, tensor<64x8x256xf32>) -> tensor<64x8x256xf32>
    %79 = "sdy.sharding_constraint"(%78) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"ep"}, {}]>}> : (tensor<64x8x256xf32>) -> tensor<64x8x256xf32>
    %80 = "stablehlo.dot_general"(%79, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x8x256xf32>, tensor<64x64xf32>) -> tensor<8x256x64xf32>
    %81 = "stablehlo.transpose"(%80) <{permutation = array<i64: 0, 2, 1>}> : (tensor<8x256x64xf32>) -> tensor<8x64x256xf32>
    %82 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %83 = "stablehlo.multiply"(%68, %82) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %84 = "stablehlo.multiply"(%83, %33) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %85 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %86 = "stablehlo.reduce"(%84, %85) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %111 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%111) : (tensor<f32>) -> ()
    }) : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %87 = "stablehlo.reshape"(%86) : (tensor<64xf32>) -> tensor<64x1xf32>
    %88 = "stablehlo.negate"(%87) : (tensor<64x1xf32>) -> tensor<64x1xf32>
    %89 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %90 = "stablehlo.divide"(%68, %89) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %91 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %92 = "stablehlo.reduce"(%88, %91) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %110 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%110) : (tensor<f32>) -> ()
    }) : (tensor<64x1xf32>, tensor<f32>) -> tensor<64xf32>
    %93 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x8xf32>
    %94 = "stablehlo.add"(%90, %93) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %95 = "stablehlo.multiply"(%94, %33) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %96 = "stablehlo.dot_general"(%95, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x8xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %97 = "stablehlo.transpose"(%96) <{permutation = array<i64: 1, 0>}> : (tensor<8x64xf32>) -> tensor<64x8xf32>
    %98 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %99 = "stablehlo.broadcast_in_dim"(%98) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x8xf32>
    %100 = "stablehlo.multiply"(%99, %97) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %101 = "stablehlo.subtract"(%arg1, %100) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %102 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %103 = "stablehlo.broadcast_in_dim"(%102) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64x256xf32>
    %104 = "stablehlo.multiply"(%103, %81) : (tensor<8x64x256xf32>, tensor<8x64x256xf32>) -> tensor<8x64x256xf32>
    %105 = "stablehlo.subtract"(%arg2, %104) : (tensor<8x64x256xf32>, tensor<8x64x256xf32>) -> tensor<8x64x256xf32>
    %106 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x256x64xf32>
    %108 = "stablehlo.multiply"(%107, %75) : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
    %109 = "stablehlo.subtract"(%arg3, %108) : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
    "func.return"(%101, %105, %109, %62) : (tensor<64x8xf32>, tensor<8x64x256xf32>, tensor<8x256x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x8x256xf32>) -> tensor<64x8x256xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64x8x256xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x8x256xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<64x8x256xf32>, tensor<64x8x256xf32>) -> tensor<64x8x256xf32>
    "func.return"(%2) : (tensor<64x8x256xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
