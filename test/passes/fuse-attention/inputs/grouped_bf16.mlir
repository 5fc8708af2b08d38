// The function below and its gradient, exported by JAX for bfloat16[2, 16, 6, 8], bfloat16[2, 16, 2, 8], bfloat16[2, 16, 2, 8].
//
//   def grouped_bf16(q,k,v): return jax.nn.dot_product_attention(q,k,v)
//
"builtin.module"() <{sym_name = "jit_g"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<2x16x6x8xbf16>, tensor<2x16x2x8xbf16>, tensor<2x16x2x8xbf16>, tensor<2x16x6x8xbf16>) -> (tensor<2x16x6x8xbf16>, tensor<2x16x6x8xbf16>, tensor<2x16x2x8xbf16>, tensor<2x16x2x8xbf16>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x16x6x8xbf16>, %arg1: tensor<2x16x2x8xbf16>, %arg2: tensor<2x16x2x8xbf16>, %arg3: tensor<2x16x6x8xbf16>):
    %0 = "stablehlo.reshape"(%arg0) : (tensor<2x16x6x8xbf16>) -> tensor<2x16x2x3x8xbf16>
    %1 = "stablehlo.dot_general"(%0, %arg1) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [4], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x16x2x3x8xbf16>, tensor<2x16x2x8xbf16>) -> tensor<2x2x16x3x16xf32>
    %2 = "stablehlo.constant"() <{value = dense<0.353553385> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x3x16xf32>
    %4 = "stablehlo.multiply"(%1, %3) : (tensor<2x2x16x3x16xf32>, tensor<2x2x16x3x16xf32>) -> tensor<2x2x16x3x16xf32>
    %5 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%4, %5) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %66 = "stablehlo.maximum"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%66) : (tensor<f32>) -> ()
    }) : (tensor<2x2x16x3x16xf32>, tensor<f32>) -> tensor<2x2x16x3xf32>
    %7 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x3xf32>
    %9 = "stablehlo.maximum"(%8, %6) : (tensor<2x2x16x3xf32>, tensor<2x2x16x3xf32>) -> tensor<2x2x16x3xf32>
    %10 = "stablehlo.transpose"(%9) <{permutation = array<i64: 3, 0, 1, 2>}> : (tensor<2x2x16x3xf32>) -> tensor<3x2x2x16xf32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<3x2x2x16xf32>) -> tensor<3x2x2x16x1xf32>
    %12 = "stablehlo.transpose"(%4) <{permutation = array<i64: 3, 0, 1, 2, 4>}> : (tensor<2x2x16x3x16xf32>) -> tensor<3x2x2x16x16xf32>
    %13 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<3x2x2x16x1xf32>) -> tensor<3x2x2x16x16xf32>
    %14 = "stablehlo.subtract"(%12, %13) : (tensor<3x2x2x16x16xf32>, tensor<3x2x2x16x16xf32>) -> tensor<3x2x2x16x16xf32>
    %15 = "stablehlo.exponential"(%14) : (tensor<3x2x2x16x16xf32>) -> tensor<3x2x2x16x16xf32>
    %16 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.reduce"(%15, %16) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %65 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%65) : (tensor<f32>) -> ()
    }) : (tensor<3x2x2x16x16xf32>, tensor<f32>) -> tensor<3x2x2x16xf32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<3x2x2x16xf32>) -> tensor<3x2x2x16x1xf32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<3x2x2x16x1xf32>) -> tensor<3x2x2x16x16xf32>
    %20 = "stablehlo.divide"(%15, %19) : (tensor<3x2x2x16x16xf32>, tensor<3x2x2x16x16xf32>) -> tensor<3x2x2x16x16xf32>
    %21 = "stablehlo.multiply"(%18, %18) : (tensor<3x2x2x16x1xf32>, tensor<3x2x2x16x1xf32>) -> tensor<3x2x2x16x1xf32>
    %22 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x2x2x16x1xf32>
    %24 = "stablehlo.divide"(%23, %21) : (tensor<3x2x2x16x1xf32>, tensor<3x2x2x16x1xf32>) -> tensor<3x2x2x16x1xf32>
    %25 = "stablehlo.convert"(%20) : (tensor<3x2x2x16x16xf32>) -> tensor<3x2x2x16x16xbf16>
    %26 = "stablehlo.dot_general"(%arg2, %25) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [4]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x16x2x8xbf16>, tensor<3x2x2x16x16xbf16>) -> tensor<2x2x8x3x16xbf16>
    %27 = "stablehlo.transpose"(%26) <{permutation = array<i64: 3, 0, 4, 1, 2>}> : (tensor<2x2x8x3x16xbf16>) -> tensor<3x2x16x2x8xbf16>
    %28 = "stablehlo.transpose"(%27) <{permutation = array<i64: 1, 2, 3, 0, 4>}> : (tensor<3x2x16x2x8xbf16>) -> tensor<2x16x2x3x8xbf16>
    %29 = "stablehlo.reshape"(%28) : (tensor<2x16x2x3x8xbf16>) -> tensor<2x16x6x8xbf16>
    %30 = "stablehlo.reshape"(%arg3) : (tensor<2x16x6x8xbf16>) -> tensor<2x16x2x3x8xbf16>
    %31 = "stablehlo.transpose"(%30) <{permutation = array<i64: 3, 0, 1, 2, 4>}> : (tensor<2x16x2x3x8xbf16>) -> tensor<3x2x16x2x8xbf16>
    %32 = "stablehlo.transpose"(%31) <{permutation = array<i64: 1, 3, 4, 0, 2>}> : (tensor<3x2x16x2x8xbf16>) -> tensor<2x2x8x3x16xbf16>
    %33 = "stablehlo.dot_general"(%32, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x8x3x16xbf16>, tensor<2x16x2x8xbf16>) -> tensor<2x2x3x16x16xbf16>
    %34 = "stablehlo.transpose"(%33) <{permutation = array<i64: 2, 0, 1, 3, 4>}> : (tensor<2x2x3x16x16xbf16>) -> tensor<3x2x2x16x16xbf16>
    %35 = "stablehlo.dot_general"(%32, %25) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [3, 4], rhs_contracting_dimensions = [0, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x8x3x16xbf16>, tensor<3x2x2x16x16xbf16>) -> tensor<2x2x8x16xbf16>
    %36 = "stablehlo.transpose"(%35) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x2x8x16xbf16>) -> tensor<2x16x2x8xbf16>
    %37 = "stablehlo.convert"(%34) : (tensor<3x2x2x16x16xbf16>) -> tensor<3x2x2x16x16xf32>
    %38 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<3x2x2x16x1xf32>) -> tensor<3x2x2x16x16xf32>
    %39 = "stablehlo.multiply"(%37, %38) : (tensor<3x2x2x16x16xf32>, tensor<3x2x2x16x16xf32>) -> tensor<3x2x2x16x16xf32>
    %40 = "stablehlo.multiply"(%39, %15) : (tensor<3x2x2x16x16xf32>, tensor<3x2x2x16x16xf32>) -> tensor<3x2x2x16x16xf32>
    %41 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.reduce"(%40, %41) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %64 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%64) : (tensor<f32>) -> ()
    }) : (tensor<3x2x2x16x16xf32>, tensor<f32>) -> tensor<3x2x2x16xf32>
    %43 = "stablehlo.reshape"(%42) : (tensor<3x2x2x16xf32>) -> tensor<3x2x2x16x1xf32>
    %44 = "stablehlo.negate"(%43) : (tensor<3x2x2x16x1xf32>) -> tensor<3x2x2x16x1xf32>
    %45 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<3x2x2x16x1xf32>) -> tensor<3x2x2x16x16xf32>
    %46 = "stablehlo.divide"(%37, %45) : (tensor<3x2x2x16x16xf32>, tensor<3x2x2x16x16xf32>) -> tensor<3x2x2x16x16xf32>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.reduce"(%44, %47) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %63 = "stablehlo.add"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%63) : (tensor<f32>) -> ()
    }) : (tensor<3x2x2x16x1xf32>, tensor<f32>) -> tensor<3x2x2x16xf32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<3x2x2x16xf32>) -> tensor<3x2x2x16x16xf32>
    %50 = "stablehlo.add"(%46, %49) : (tensor<3x2x2x16x16xf32>, tensor<3x2x2x16x16xf32>) -> tensor<3x2x2x16x16xf32>
    %51 = "stablehlo.multiply"(%50, %15) : (tensor<3x2x2x16x16xf32>, tensor<3x2x2x16x16xf32>) -> tensor<3x2x2x16x16xf32>
    %52 = "stablehlo.transpose"(%51) <{permutation = array<i64: 1, 2, 3, 0, 4>}> : (tensor<3x2x2x16x16xf32>) -> tensor<2x2x16x3x16xf32>
    %53 = "stablehlo.constant"() <{value = dense<0.353553385> : tensor<f32>}> : () -> tensor<f32>
    %54 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x3x16xf32>
    %55 = "stablehlo.multiply"(%52, %54) : (tensor<2x2x16x3x16xf32>, tensor<2x2x16x3x16xf32>) -> tensor<2x2x16x3x16xf32>
    %56 = "stablehlo.dot_general"(%55, %0) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [1, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x16x3x16xf32>, tensor<2x16x2x3x8xbf16>) -> tensor<2x2x16x8xf32>
    %57 = "stablehlo.transpose"(%56) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x2x16x8xf32>) -> tensor<2x16x2x8xf32>
    %58 = "stablehlo.convert"(%57) : (tensor<2x16x2x8xf32>) -> tensor<2x16x2x8xbf16>
    %59 = "stablehlo.dot_general"(%55, %arg1) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [4], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x16x3x16xf32>, tensor<2x16x2x8xbf16>) -> tensor<2x2x16x3x8xf32>
    %60 = "stablehlo.transpose"(%59) <{permutation = array<i64: 0, 2, 1, 3, 4>}> : (tensor<2x2x16x3x8xf32>) -> tensor<2x16x2x3x8xf32>
    %61 = "stablehlo.convert"(%60) : (tensor<2x16x2x3x8xf32>) -> tensor<2x16x2x3x8xbf16>
    %62 = "stablehlo.reshape"(%61) : (tensor<2x16x2x3x8xbf16>) -> tensor<2x16x6x8xbf16>
    "func.return"(%29, %62, %58, %36) : (tensor<2x16x6x8xbf16>, tensor<2x16x6x8xbf16>, tensor<2x16x2x8xbf16>, tensor<2x16x2x8xbf16>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
