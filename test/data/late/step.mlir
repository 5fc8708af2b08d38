"builtin.module"() <{sym_name = "jit_jax_step"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}], function_type = (tensor<4xf32>, tensor<5x4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<i32>, tensor<12x5xf32>, tensor<12xf32>) -> (tensor<4xf32>, tensor<5x4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<i32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0][0]['v']"}, {jax.result_info = "result[0][0]['w']"}, {jax.result_info = "result[0][1]['v']"}, {jax.result_info = "result[0][1]['w']"}, {jax.result_info = "result[0][2]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4xf32>, %arg1: tensor<5x4xf32>, %arg2: tensor<4xf32>, %arg3: tensor<5x4xf32>, %arg4: tensor<i32>, %arg5: tensor<12x5xf32>, %arg6: tensor<12xf32>):
    %0 = "stablehlo.dot_general"(%arg5, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<12x5xf32>, tensor<5x4xf32>) -> tensor<12x4xf32>
    %1 = "stablehlo.tanh"(%0) : (tensor<12x4xf32>) -> tensor<12x4xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12x4xf32>
    %4 = "stablehlo.subtract"(%3, %1) : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<12x4xf32>
    %5 = "stablehlo.dot_general"(%1, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<12x4xf32>, tensor<4xf32>) -> tensor<12xf32>
    %6 = "stablehlo.subtract"(%5, %arg6) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %7 = "stablehlo.multiply"(%6, %6) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %8 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %10 = "stablehlo.multiply"(%9, %6) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.reduce"(%7, %11) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %68 = "stablehlo.add"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%68) : (tensor<f32>) -> ()
    }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
    %13 = "stablehlo.constant"() <{value = dense<1.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.divide"(%12, %13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %15 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.constant"() <{value = dense<1.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.divide"(%15, %16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %19 = "stablehlo.multiply"(%18, %10) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %20 = "stablehlo.dot_general"(%19, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<12xf32>, tensor<12x4xf32>) -> tensor<4xf32>
    %21 = "stablehlo.dot_general"(%19, %arg0) <{dot_dimension_numbers = #stablehlo.dot<>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<12xf32>, tensor<4xf32>) -> tensor<12x4xf32>
    %22 = "stablehlo.multiply"(%21, %4) : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<12x4xf32>
    %23 = "stablehlo.multiply"(%22, %1) : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<12x4xf32>
    %24 = "stablehlo.add"(%22, %23) : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<12x4xf32>
    %25 = "stablehlo.dot_general"(%24, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<12x4xf32>, tensor<12x5xf32>) -> tensor<4x5xf32>
    %26 = "stablehlo.transpose"(%25) <{permutation = array<i64: 1, 0>}> : (tensor<4x5xf32>) -> tensor<5x4xf32>
    %27 = "stablehlo.multiply"(%20, %20) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %28 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.reduce"(%27, %28) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %67 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%67) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %30 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %31 = "stablehlo.add"(%30, %29) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %32 = "stablehlo.multiply"(%26, %26) : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %33 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.reduce"(%32, %33) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %66 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%66) : (tensor<f32>) -> ()
    }) : (tensor<5x4xf32>, tensor<f32>) -> tensor<f32>
    %35 = "stablehlo.add"(%31, %34) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %36 = "stablehlo.sqrt"(%35) : (tensor<f32>) -> tensor<f32>
    %37 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.maximum"(%36, %37) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %39 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.divide"(%39, %38) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %41 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<f32>
    %42 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.add"(%42, %41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %44 = "stablehlo.constant"() <{value = dense<2.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %45 = "stablehlo.divide"(%44, %43) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %46 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %48 = "stablehlo.multiply"(%47, %arg2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %49 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %50 = "stablehlo.multiply"(%49, %20) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %51 = "stablehlo.add"(%48, %50) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %52 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5x4xf32>
    %54 = "stablehlo.multiply"(%53, %arg3) : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %55 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5x4xf32>
    %56 = "stablehlo.multiply"(%55, %26) : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %57 = "stablehlo.add"(%54, %56) : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %58 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %59 = "stablehlo.multiply"(%58, %51) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %60 = "stablehlo.subtract"(%arg0, %59) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %61 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5x4xf32>
    %62 = "stablehlo.multiply"(%61, %57) : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %63 = "stablehlo.subtract"(%arg1, %62) : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %64 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %65 = "stablehlo.add"(%arg4, %64) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%60, %63, %51, %57, %65, %14) : (tensor<4xf32>, tensor<5x4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<i32>, tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

