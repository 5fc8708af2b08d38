"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=8]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 8 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<512x16xf32>, tensor<256x16xf32>, tensor<96x256xf32>, tensor<256x1xf32>, tensor<64xi32>, tensor<64xi32>, tensor<64x64xf32>) -> (tensor<512x16xf32>, tensor<256x16xf32>, tensor<96x256xf32>, tensor<256x1xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['t1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['t2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<512x16xf32>, %arg2: tensor<256x16xf32>, %arg3: tensor<96x256xf32>, %arg4: tensor<256x1xf32>, %arg5: tensor<64xi32>, %arg6: tensor<64xi32>, %arg7: tensor<64x64xf32>):
    %3 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64xi32>
    %5 = "stablehlo.compare"(%arg5, %4) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %6 = "stablehlo.constant"() <{value = dense<512> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64xi32>
    %8 = "stablehlo.add"(%arg5, %7) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    %9 = "stablehlo.select"(%5, %8, %arg5) : (tensor<64xi1>, tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xi32>) -> tensor<64x1xi32>
    %11 = "stablehlo.gather"(%arg1, %10) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<512x16xf32>, tensor<64x1xi32>) -> tensor<64x16xf32>
    %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64xi32>
    %14 = "stablehlo.compare"(%arg6, %13) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %15 = "stablehlo.constant"() <{value = dense<256> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64xi32>
    %17 = "stablehlo.add"(%arg6, %16) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    %18 = "stablehlo.select"(%14, %17, %arg6) : (tensor<64xi1>, tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xi32>) -> tensor<64x1xi32>
    %20 = "stablehlo.gather"(%arg2, %19) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<256x16xf32>, tensor<64x1xi32>) -> tensor<64x16xf32>
    %21 = "stablehlo.concatenate"(%arg7, %11, %20) <{dimension = 1 : i64}> : (tensor<64x64xf32>, tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x96xf32>
    %22 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %24 = "stablehlo.dot_general"(%21, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x96xf32>, tensor<96x256xf32>) -> tensor<64x256xf32>
    %25 = "func.call"(%24) <{callee = @relu}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %28 = "stablehlo.compare"(%24, %27) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xi1>
    %29 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %31 = "stablehlo.dot_general"(%25, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<256x1xf32>) -> tensor<64x1xf32>
    %32 = "stablehlo.reshape"(%31) : (tensor<64x1xf32>) -> tensor<64xf32>
    %33 = "stablehlo.multiply"(%32, %32) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %34 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %36 = "stablehlo.multiply"(%35, %32) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %37 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.reduce"(%33, %37) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %83 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%83) : (tensor<f32>) -> ()
    }) : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
    %39 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.divide"(%38, %39) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %41 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.divide"(%41, %42) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %45 = "stablehlo.multiply"(%44, %36) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1xf32>
    %47 = "stablehlo.dot_general"(%46, %25) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x1xf32>, tensor<64x256xf32>) -> tensor<1x256xf32>
    %48 = "stablehlo.transpose"(%47) <{permutation = array<i64: 1, 0>}> : (tensor<1x256xf32>) -> tensor<256x1xf32>
    %49 = "stablehlo.dot_general"(%46, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x1xf32>, tensor<256x1xf32>) -> tensor<64x256xf32>
    %50 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %52 = "stablehlo.select"(%28, %49, %51) : (tensor<64x256xi1>, tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %53 = "stablehlo.dot_general"(%52, %21) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<64x96xf32>) -> tensor<256x96xf32>
    %54 = "stablehlo.transpose"(%53) <{permutation = array<i64: 1, 0>}> : (tensor<256x96xf32>) -> tensor<96x256xf32>
    %55 = "stablehlo.dot_general"(%52, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<96x256xf32>) -> tensor<64x96xf32>
    %56 = "stablehlo.slice"(%55) <{limit_indices = array<i64: 64, 64>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<64x96xf32>) -> tensor<64x64xf32>
    %57 = "stablehlo.slice"(%55) <{limit_indices = array<i64: 64, 80>, start_indices = array<i64: 0, 64>, strides = array<i64: 1, 1>}> : (tensor<64x96xf32>) -> tensor<64x16xf32>
    %58 = "stablehlo.slice"(%55) <{limit_indices = array<i64: 64, 96>, start_indices = array<i64: 0, 80>, strides = array<i64: 1, 1>}> : (tensor<64x96xf32>) -> tensor<64x16xf32>
    %59 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x16xf32>
    %61 = "stablehlo.scatter"(%60, %19, %58) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %82 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%82) : (tensor<f32>) -> ()
    }) : (tensor<256x16xf32>, tensor<64x1xi32>, tensor<64x16xf32>) -> tensor<256x16xf32>
    %62 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512x16xf32>
    %64 = "stablehlo.scatter"(%63, %10, %57) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %81 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%81) : (tensor<f32>) -> ()
    }) : (tensor<512x16xf32>, tensor<64x1xi32>, tensor<64x16xf32>) -> tensor<512x16xf32>
    %65 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512x16xf32>
    %67 = "stablehlo.multiply"(%66, %64) : (tensor<512x16xf32>, tensor<512x16xf32>) -> tensor<512x16xf32>
    %68 = "stablehlo.subtract"(%arg1, %67) : (tensor<512x16xf32>, tensor<512x16xf32>) -> tensor<512x16xf32>
    %69 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x16xf32>
    %71 = "stablehlo.multiply"(%70, %61) : (tensor<256x16xf32>, tensor<256x16xf32>) -> tensor<256x16xf32>
    %72 = "stablehlo.subtract"(%arg2, %71) : (tensor<256x16xf32>, tensor<256x16xf32>) -> tensor<256x16xf32>
    %73 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<96x256xf32>
    %75 = "stablehlo.multiply"(%74, %54) : (tensor<96x256xf32>, tensor<96x256xf32>) -> tensor<96x256xf32>
    %76 = "stablehlo.subtract"(%arg3, %75) : (tensor<96x256xf32>, tensor<96x256xf32>) -> tensor<96x256xf32>
    %77 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x1xf32>
    %79 = "stablehlo.multiply"(%78, %48) : (tensor<256x1xf32>, tensor<256x1xf32>) -> tensor<256x1xf32>
    %80 = "stablehlo.subtract"(%arg4, %79) : (tensor<256x1xf32>, tensor<256x1xf32>) -> tensor<256x1xf32>
    "func.return"(%68, %72, %76, %80, %40) : (tensor<512x16xf32>, tensor<256x16xf32>, tensor<96x256xf32>, tensor<256x1xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x256xf32>) -> tensor<64x256xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64x256xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    "func.return"(%2) : (tensor<64x256xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
