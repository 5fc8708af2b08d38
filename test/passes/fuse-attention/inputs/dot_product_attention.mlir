// The function below and its gradient, exported by JAX for float32[2, 16, 2, 8], float32[2, 16, 2, 8], float32[2, 16, 2, 8].
//
//   def dot_product_attention(q,k,v): return jax.nn.dot_product_attention(q,k,v,is_causal=True)
//
"builtin.module"() <{sym_name = "jit_g"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>) -> (tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg6: tensor<2x16x2x8xf32>, %arg7: tensor<2x16x2x8xf32>, %arg8: tensor<2x16x2x8xf32>, %arg9: tensor<2x16x2x8xf32>):
    %18 = "stablehlo.reshape"(%arg6) : (tensor<2x16x2x8xf32>) -> tensor<2x16x2x1x8xf32>
    %19 = "stablehlo.dot_general"(%18, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [4], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x16x2x1x8xf32>, tensor<2x16x2x8xf32>) -> tensor<2x2x16x1x16xf32>
    %20 = "stablehlo.constant"() <{value = dense<0.353553385> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x1x16xf32>
    %22 = "stablehlo.multiply"(%19, %21) : (tensor<2x2x16x1x16xf32>, tensor<2x2x16x1x16xf32>) -> tensor<2x2x16x1x16xf32>
    %23 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<2x2x16x16xi1>
    %25 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<16x16xi1>
    %27 = "func.call"(%26) <{callee = @tril}> : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<16x16xi1>) -> tensor<1x1x16x16xi1>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x16x16xi1>) -> tensor<2x2x16x16xi1>
    %30 = "stablehlo.and"(%24, %29) : (tensor<2x2x16x16xi1>, tensor<2x2x16x16xi1>) -> tensor<2x2x16x16xi1>
    %31 = "stablehlo.constant"() <{value = dense<-2.38197633E+38> : tensor<f32>}> : () -> tensor<f32>
    %32:2 = "func.call"(%30, %22, %31) <{callee = @_where}> : (tensor<2x2x16x16xi1>, tensor<2x2x16x1x16xf32>, tensor<f32>) -> (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xi1>)
    %33 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.reduce"(%32#0, %33) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %89 = "stablehlo.maximum"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%89) : (tensor<f32>) -> ()
    }) : (tensor<1x2x2x16x16xf32>, tensor<f32>) -> tensor<1x2x2x16xf32>
    %35 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x2x16xf32>
    %37 = "stablehlo.maximum"(%36, %34) : (tensor<1x2x2x16xf32>, tensor<1x2x2x16xf32>) -> tensor<1x2x2x16xf32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x2x16xf32>) -> tensor<1x2x2x16x1xf32>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<1x2x2x16x1xf32>) -> tensor<1x2x2x16x16xf32>
    %40 = "stablehlo.subtract"(%32#0, %39) : (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %41 = "stablehlo.exponential"(%40) : (tensor<1x2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %42 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.reduce"(%41, %42) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %88 = "stablehlo.add"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%88) : (tensor<f32>) -> ()
    }) : (tensor<1x2x2x16x16xf32>, tensor<f32>) -> tensor<1x2x2x16xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x2x16xf32>) -> tensor<1x2x2x16x1xf32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<1x2x2x16x1xf32>) -> tensor<1x2x2x16x16xf32>
    %46 = "stablehlo.divide"(%41, %45) : (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %47 = "stablehlo.multiply"(%44, %44) : (tensor<1x2x2x16x1xf32>, tensor<1x2x2x16x1xf32>) -> tensor<1x2x2x16x1xf32>
    %48 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x2x16x1xf32>
    %50 = "stablehlo.divide"(%49, %47) : (tensor<1x2x2x16x1xf32>, tensor<1x2x2x16x1xf32>) -> tensor<1x2x2x16x1xf32>
    %51 = "stablehlo.dot_general"(%arg8, %46) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [4]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x16x2x8xf32>, tensor<1x2x2x16x16xf32>) -> tensor<2x2x8x1x16xf32>
    %52 = "stablehlo.transpose"(%51) <{permutation = array<i64: 3, 0, 4, 1, 2>}> : (tensor<2x2x8x1x16xf32>) -> tensor<1x2x16x2x8xf32>
    %53 = "stablehlo.transpose"(%52) <{permutation = array<i64: 1, 2, 3, 0, 4>}> : (tensor<1x2x16x2x8xf32>) -> tensor<2x16x2x1x8xf32>
    %54 = "stablehlo.reshape"(%53) : (tensor<2x16x2x1x8xf32>) -> tensor<2x16x2x8xf32>
    %55 = "stablehlo.reshape"(%arg9) : (tensor<2x16x2x8xf32>) -> tensor<2x16x2x1x8xf32>
    %56 = "stablehlo.transpose"(%55) <{permutation = array<i64: 3, 0, 1, 2, 4>}> : (tensor<2x16x2x1x8xf32>) -> tensor<1x2x16x2x8xf32>
    %57 = "stablehlo.transpose"(%56) <{permutation = array<i64: 1, 3, 4, 0, 2>}> : (tensor<1x2x16x2x8xf32>) -> tensor<2x2x8x1x16xf32>
    %58 = "stablehlo.dot_general"(%57, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x8x1x16xf32>, tensor<2x16x2x8xf32>) -> tensor<2x2x1x16x16xf32>
    %59 = "stablehlo.transpose"(%58) <{permutation = array<i64: 2, 0, 1, 3, 4>}> : (tensor<2x2x1x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %60 = "stablehlo.dot_general"(%57, %46) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [3, 4], rhs_contracting_dimensions = [0, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x8x1x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<2x2x8x16xf32>
    %61 = "stablehlo.transpose"(%60) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x2x8x16xf32>) -> tensor<2x16x2x8xf32>
    %62 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<1x2x2x16x1xf32>) -> tensor<1x2x2x16x16xf32>
    %63 = "stablehlo.multiply"(%59, %62) : (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %64 = "stablehlo.multiply"(%63, %41) : (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %65 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.reduce"(%64, %65) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %87 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%87) : (tensor<f32>) -> ()
    }) : (tensor<1x2x2x16x16xf32>, tensor<f32>) -> tensor<1x2x2x16xf32>
    %67 = "stablehlo.reshape"(%66) : (tensor<1x2x2x16xf32>) -> tensor<1x2x2x16x1xf32>
    %68 = "stablehlo.negate"(%67) : (tensor<1x2x2x16x1xf32>) -> tensor<1x2x2x16x1xf32>
    %69 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<1x2x2x16x1xf32>) -> tensor<1x2x2x16x16xf32>
    %70 = "stablehlo.divide"(%59, %69) : (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %71 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %72 = "stablehlo.reduce"(%68, %71) <{dimensions = array<i64: 0, 4>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %86 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%86) : (tensor<f32>) -> ()
    }) : (tensor<1x2x2x16x1xf32>, tensor<f32>) -> tensor<2x2x16xf32>
    %73 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<2x2x16xf32>) -> tensor<1x2x2x16xf32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x2x16xf32>) -> tensor<1x2x2x16x16xf32>
    %75 = "stablehlo.add"(%70, %74) : (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %76 = "stablehlo.multiply"(%75, %41) : (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %77 = "func.call"(%32#1, %76) <{callee = @_where_0}> : (tensor<1x2x2x16x16xi1>, tensor<1x2x2x16x16xf32>) -> tensor<2x2x16x1x16xf32>
    %78 = "stablehlo.constant"() <{value = dense<0.353553385> : tensor<f32>}> : () -> tensor<f32>
    %79 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x1x16xf32>
    %80 = "stablehlo.multiply"(%77, %79) : (tensor<2x2x16x1x16xf32>, tensor<2x2x16x1x16xf32>) -> tensor<2x2x16x1x16xf32>
    %81 = "stablehlo.dot_general"(%80, %18) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [1, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x16x1x16xf32>, tensor<2x16x2x1x8xf32>) -> tensor<2x2x16x8xf32>
    %82 = "stablehlo.transpose"(%81) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x2x16x8xf32>) -> tensor<2x16x2x8xf32>
    %83 = "stablehlo.dot_general"(%80, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [4], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x16x1x16xf32>, tensor<2x16x2x8xf32>) -> tensor<2x2x16x1x8xf32>
    %84 = "stablehlo.transpose"(%83) <{permutation = array<i64: 0, 2, 1, 3, 4>}> : (tensor<2x2x16x1x8xf32>) -> tensor<2x16x2x1x8xf32>
    %85 = "stablehlo.reshape"(%84) : (tensor<2x16x2x1x8xf32>) -> tensor<2x16x2x8xf32>
    "func.return"(%54, %85, %82, %61) : (tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x16xi1>) -> tensor<16x16xi1>, res_attrs = [{}], sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<16x16xi1>):
    %9 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<16x16xi32>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x16xi32>
    %12 = "stablehlo.add"(%9, %11) : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi32>
    %13 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<16x16xi32>
    %14 = "stablehlo.compare"(%12, %13) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %15 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<16x16xi1>
    %17 = "stablehlo.select"(%14, %arg5, %16) : (tensor<16x16xi1>, tensor<16x16xi1>, tensor<16x16xi1>) -> tensor<16x16xi1>
    "func.return"(%17) : (tensor<16x16xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2x2x16x16xi1>, tensor<2x2x16x1x16xf32>, tensor<f32>) -> (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xi1>), res_attrs = [{}, {}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<2x2x16x16xi1>, %arg3: tensor<2x2x16x1x16xf32>, %arg4: tensor<f32>):
    %4 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x16xf32>
    %5 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 1, 2, 3, 4>}> : (tensor<2x2x16x16xi1>) -> tensor<1x2x2x16x16xi1>
    %6 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 1, 2, 3, 4>}> : (tensor<2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %7 = "stablehlo.transpose"(%arg3) <{permutation = array<i64: 3, 0, 1, 2, 4>}> : (tensor<2x2x16x1x16xf32>) -> tensor<1x2x2x16x16xf32>
    %8 = "stablehlo.select"(%5, %7, %6) : (tensor<1x2x2x16x16xi1>, tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    "func.return"(%8, %5) : (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<1x2x2x16x16xi1>, tensor<1x2x2x16x16xf32>) -> tensor<2x2x16x1x16xf32>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x2x2x16x16xi1>, %arg1: tensor<1x2x2x16x16xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x2x16x16xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<1x2x2x16x16xi1>, tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<1x2x2x16x16xf32>
    %3 = "stablehlo.transpose"(%2) <{permutation = array<i64: 1, 2, 3, 0, 4>}> : (tensor<1x2x2x16x16xf32>) -> tensor<2x2x16x1x16xf32>
    "func.return"(%3) : (tensor<2x2x16x1x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
