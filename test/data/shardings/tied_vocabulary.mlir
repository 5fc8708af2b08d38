"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=4, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<512x64xf32>, tensor<64x64xf32>, tensor<16x32xi32>, tensor<16x32xi32>) -> (tensor<512x64xf32>, tensor<64x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['table']", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, {jax.result_info = "result[0]['w']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg20: tensor<512x64xf32>, %arg21: tensor<64x64xf32>, %arg22: tensor<16x32xi32>, %arg23: tensor<16x32xi32>):
    %56 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x32xi32>
    %58 = "stablehlo.compare"(%arg22, %57) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<16x32xi32>, tensor<16x32xi32>) -> tensor<16x32xi1>
    %59 = "stablehlo.constant"() <{value = dense<512> : tensor<i32>}> : () -> tensor<i32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x32xi32>
    %61 = "stablehlo.add"(%arg22, %60) : (tensor<16x32xi32>, tensor<16x32xi32>) -> tensor<16x32xi32>
    %62 = "stablehlo.select"(%58, %61, %arg22) : (tensor<16x32xi1>, tensor<16x32xi32>, tensor<16x32xi32>) -> tensor<16x32xi32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xi32>) -> tensor<16x32x1xi32>
    %64 = "stablehlo.gather"(%arg20, %63) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 64>}> : (tensor<512x64xf32>, tensor<16x32x1xi32>) -> tensor<16x32x64xf32>
    %65 = "stablehlo.dot_general"(%64, %arg21) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %66 = "stablehlo.tanh"(%65) : (tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %67 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %68 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %69 = "stablehlo.subtract"(%68, %66) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %70 = "stablehlo.transpose"(%arg20) <{permutation = array<i64: 1, 0>}> : (tensor<512x64xf32>) -> tensor<64x512xf32>
    %71 = "stablehlo.dot_general"(%66, %70) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x512xf32>) -> tensor<16x32x512xf32>
    %72:3 = "func.call"(%71) <{callee = @log_softmax}> : (tensor<16x32x512xf32>) -> (tensor<16x32x512xf32>, tensor<16x32x512xf32>, tensor<16x32x1xf32>)
    %73 = "stablehlo.broadcast_in_dim"(%arg23) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xi32>) -> tensor<16x32x1xi32>
    %74:2 = "func.call"(%72#0, %73) <{callee = @take_along_axis}> : (tensor<16x32x512xf32>, tensor<16x32x1xi32>) -> (tensor<16x32x1xf32>, tensor<16x32x1x1xi32>)
    %75 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %76 = "stablehlo.reduce"(%74#0, %75) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg26: tensor<f32>, %arg27: tensor<f32>):
      %110 = "stablehlo.add"(%arg26, %arg27) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%110) : (tensor<f32>) -> ()
    }) : (tensor<16x32x1xf32>, tensor<f32>) -> tensor<f32>
    %77 = "stablehlo.constant"() <{value = dense<5.120000e+02> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.divide"(%76, %77) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %79 = "stablehlo.negate"(%78) : (tensor<f32>) -> tensor<f32>
    %80 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %81 = "stablehlo.negate"(%80) : (tensor<f32>) -> tensor<f32>
    %82 = "stablehlo.constant"() <{value = dense<5.120000e+02> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.divide"(%81, %82) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %85 = "func.call"(%74#1, %84) <{callee = @take_along_axis_0}> : (tensor<16x32x1x1xi32>, tensor<16x32x1xf32>) -> tensor<16x32x512xf32>
    %86 = "func.call"(%72#1, %72#2, %85) <{callee = @log_softmax_1}> : (tensor<16x32x512xf32>, tensor<16x32x1xf32>, tensor<16x32x512xf32>) -> tensor<16x32x512xf32>
    %87 = "stablehlo.dot_general"(%86, %66) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x512xf32>, tensor<16x32x64xf32>) -> tensor<512x64xf32>
    %88 = "stablehlo.transpose"(%87) <{permutation = array<i64: 1, 0>}> : (tensor<512x64xf32>) -> tensor<64x512xf32>
    %89 = "stablehlo.dot_general"(%86, %70) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x512xf32>, tensor<64x512xf32>) -> tensor<16x32x64xf32>
    %90 = "stablehlo.transpose"(%88) <{permutation = array<i64: 1, 0>}> : (tensor<64x512xf32>) -> tensor<512x64xf32>
    %91 = "stablehlo.multiply"(%89, %69) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %92 = "stablehlo.multiply"(%91, %66) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %93 = "stablehlo.add"(%91, %92) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %94 = "stablehlo.dot_general"(%93, %64) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<64x64xf32>
    %95 = "stablehlo.transpose"(%94) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %96 = "stablehlo.dot_general"(%93, %arg21) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32x64xf32>, tensor<64x64xf32>) -> tensor<16x32x64xf32>
    %97 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512x64xf32>
    %99 = "stablehlo.scatter"(%98, %63, %96) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %109 = "stablehlo.add"(%arg24, %arg25) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%109) : (tensor<f32>) -> ()
    }) : (tensor<512x64xf32>, tensor<16x32x1xi32>, tensor<16x32x64xf32>) -> tensor<512x64xf32>
    %100 = "stablehlo.add"(%90, %99) : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
    %101 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512x64xf32>
    %103 = "stablehlo.multiply"(%102, %100) : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
    %104 = "stablehlo.subtract"(%arg20, %103) : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
    %105 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.broadcast_in_dim"(%105) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %107 = "stablehlo.multiply"(%106, %95) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %108 = "stablehlo.subtract"(%arg21, %107) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%104, %108, %79) : (tensor<512x64xf32>, tensor<64x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x32x512xf32>) -> (tensor<16x32x512xf32>, tensor<16x32x512xf32>, tensor<16x32x1xf32>), res_attrs = [{}, {}, {}], sym_name = "log_softmax", sym_visibility = "private"}> ({
  ^bb0(%arg15: tensor<16x32x512xf32>):
    %39 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.reduce"(%arg15, %39) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %55 = "stablehlo.maximum"(%arg18, %arg19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%55) : (tensor<f32>) -> ()
    }) : (tensor<16x32x512xf32>, tensor<f32>) -> tensor<16x32xf32>
    %41 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %43 = "stablehlo.maximum"(%42, %40) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x512xf32>
    %46 = "stablehlo.subtract"(%arg15, %45) : (tensor<16x32x512xf32>, tensor<16x32x512xf32>) -> tensor<16x32x512xf32>
    %47 = "stablehlo.exponential"(%46) : (tensor<16x32x512xf32>) -> tensor<16x32x512xf32>
    %48 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.reduce"(%47, %48) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %54 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%54) : (tensor<f32>) -> ()
    }) : (tensor<16x32x512xf32>, tensor<f32>) -> tensor<16x32xf32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %51 = "stablehlo.log"(%50) : (tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x32x1xf32>) -> tensor<16x32x512xf32>
    %53 = "stablehlo.subtract"(%46, %52) : (tensor<16x32x512xf32>, tensor<16x32x512xf32>) -> tensor<16x32x512xf32>
    "func.return"(%53, %47, %50) : (tensor<16x32x512xf32>, tensor<16x32x512xf32>, tensor<16x32x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x32x512xf32>, tensor<16x32x1xi32>) -> (tensor<16x32x1xf32>, tensor<16x32x1x1xi32>), res_attrs = [{}, {}], sym_name = "take_along_axis", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<16x32x512xf32>, %arg12: tensor<16x32x1xi32>):
    %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x32x1xi32>
    %18 = "stablehlo.compare"(%arg12, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<16x32x1xi32>, tensor<16x32x1xi32>) -> tensor<16x32x1xi1>
    %19 = "stablehlo.constant"() <{value = dense<512> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x32x1xi32>
    %21 = "stablehlo.add"(%arg12, %20) : (tensor<16x32x1xi32>, tensor<16x32x1xi32>) -> tensor<16x32x1xi32>
    %22 = "stablehlo.select"(%18, %21, %arg12) : (tensor<16x32x1xi1>, tensor<16x32x1xi32>, tensor<16x32x1xi32>) -> tensor<16x32x1xi32>
    %23 = "stablehlo.reshape"(%22) : (tensor<16x32x1xi32>) -> tensor<16x32x1x1xi32>
    %24 = "stablehlo.constant"() <{value = dense<511> : tensor<1xi32>}> : () -> tensor<1xi32>
    %25 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x32x1x1xi32>
    %27 = "stablehlo.compare"(%23, %26) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<16x32x1x1xi32>, tensor<16x32x1x1xi32>) -> tensor<16x32x1x1xi1>
    %28 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 3>}> : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x1xi32>) -> tensor<16x32x1x1xi32>
    %30 = "stablehlo.compare"(%23, %29) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<16x32x1x1xi32>, tensor<16x32x1x1xi32>) -> tensor<16x32x1x1xi1>
    %31 = "stablehlo.and"(%27, %30) : (tensor<16x32x1x1xi1>, tensor<16x32x1x1xi1>) -> tensor<16x32x1x1xi1>
    %32 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %33 = "stablehlo.reduce"(%31, %32) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg13: tensor<i1>, %arg14: tensor<i1>):
      %38 = "stablehlo.and"(%arg13, %arg14) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%38) : (tensor<i1>) -> ()
    }) : (tensor<16x32x1x1xi1>, tensor<i1>) -> tensor<16x32x1xi1>
    %34 = "stablehlo.gather"(%arg11, %23) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<16x32x512xf32>, tensor<16x32x1x1xi32>) -> tensor<16x32x1xf32>
    %35 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x1xf32>
    %37 = "stablehlo.select"(%33, %34, %36) : (tensor<16x32x1xi1>, tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    "func.return"(%37, %23) : (tensor<16x32x1xf32>, tensor<16x32x1x1xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x32x1x1xi32>, tensor<16x32x1xf32>) -> tensor<16x32x512xf32>, res_attrs = [{}], sym_name = "take_along_axis_0", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<16x32x1x1xi32>, %arg8: tensor<16x32x1xf32>):
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x512xf32>
    %14 = "stablehlo.scatter"(%13, %arg7, %arg8) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %15 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%15) : (tensor<f32>) -> ()
    }) : (tensor<16x32x512xf32>, tensor<16x32x1x1xi32>, tensor<16x32x1xf32>) -> tensor<16x32x512xf32>
    "func.return"(%14) : (tensor<16x32x512xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<16x32x512xf32>, tensor<16x32x1xf32>, tensor<16x32x512xf32>) -> tensor<16x32x512xf32>, res_attrs = [{}], sym_name = "log_softmax_1", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<16x32x512xf32>, %arg1: tensor<16x32x1xf32>, %arg2: tensor<16x32x512xf32>):
    %0 = "stablehlo.negate"(%arg2) : (tensor<16x32x512xf32>) -> tensor<16x32x512xf32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %11 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%11) : (tensor<f32>) -> ()
    }) : (tensor<16x32x512xf32>, tensor<f32>) -> tensor<16x32xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<16x32xf32>) -> tensor<16x32x1xf32>
    %4 = "stablehlo.divide"(%3, %arg1) : (tensor<16x32x1xf32>, tensor<16x32x1xf32>) -> tensor<16x32x1xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%4, %5) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %10 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%10) : (tensor<f32>) -> ()
    }) : (tensor<16x32x1xf32>, tensor<f32>) -> tensor<16x32xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x32xf32>) -> tensor<16x32x512xf32>
    %8 = "stablehlo.multiply"(%7, %arg0) : (tensor<16x32x512xf32>, tensor<16x32x512xf32>) -> tensor<16x32x512xf32>
    %9 = "stablehlo.add"(%arg2, %8) : (tensor<16x32x512xf32>, tensor<16x32x512xf32>) -> tensor<16x32x512xf32>
    "func.return"(%9) : (tensor<16x32x512xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
