"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=8]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 8 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<64x32xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x32xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg19: tensor<64x32xf32>, %arg20: tensor<64x64xf32>, %arg21: tensor<64x64xf32>):
    %71 = "stablehlo.dot_general"(%arg20, %arg19) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %72 = "stablehlo.dot_general"(%arg21, %arg19) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %73 = "stablehlo.transpose"(%72) <{permutation = array<i64: 1, 0>}> : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %74 = "stablehlo.dot_general"(%71, %73) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %75:3 = "func.call"(%74) <{callee = @log_softmax}> : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x1xf32>)
    %76:4 = "func.call"(%75#0) <{callee = @diagonal}> : (tensor<64x64xf32>) -> (tensor<64xf32>, tensor<i32>, tensor<64x64xf32>, tensor<64x2xi32>)
    %77 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.reduce"(%76#0, %77) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg22: tensor<f32>, %arg23: tensor<f32>):
      %102 = "stablehlo.add"(%arg22, %arg23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%102) : (tensor<f32>) -> ()
    }) : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
    %79 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %80 = "stablehlo.divide"(%78, %79) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %81 = "stablehlo.negate"(%80) : (tensor<f32>) -> tensor<f32>
    %82 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.negate"(%82) : (tensor<f32>) -> tensor<f32>
    %84 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %85 = "stablehlo.divide"(%83, %84) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %87 = "func.call"(%76#1, %76#2, %76#3, %86) <{callee = @diagonal_0}> : (tensor<i32>, tensor<64x64xf32>, tensor<64x2xi32>, tensor<64xf32>) -> tensor<64x64xf32>
    %88 = "func.call"(%75#1, %75#2, %87) <{callee = @log_softmax_1}> : (tensor<64x64xf32>, tensor<64x1xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %89 = "stablehlo.dot_general"(%88, %71) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %90 = "stablehlo.transpose"(%89) <{permutation = array<i64: 1, 0>}> : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %91 = "stablehlo.dot_general"(%88, %73) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<32x64xf32>) -> tensor<64x32xf32>
    %92 = "stablehlo.transpose"(%90) <{permutation = array<i64: 1, 0>}> : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %93 = "stablehlo.dot_general"(%92, %arg21) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x32xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %94 = "stablehlo.transpose"(%93) <{permutation = array<i64: 1, 0>}> : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %95 = "stablehlo.dot_general"(%91, %arg20) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x32xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    %96 = "stablehlo.transpose"(%95) <{permutation = array<i64: 1, 0>}> : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %97 = "stablehlo.add"(%94, %96) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %98 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %99 = "stablehlo.broadcast_in_dim"(%98) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %100 = "stablehlo.multiply"(%99, %97) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %101 = "stablehlo.subtract"(%arg19, %100) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    "func.return"(%101, %81) : (tensor<64x32xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x1xf32>), res_attrs = [{}, {}, {}], sym_name = "log_softmax", sym_visibility = "private"}> ({
  ^bb0(%arg14: tensor<64x64xf32>):
    %54 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.reduce"(%arg14, %54) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %70 = "stablehlo.maximum"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%70) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
    %56 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %58 = "stablehlo.maximum"(%57, %55) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1xf32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x64xf32>
    %61 = "stablehlo.subtract"(%arg14, %60) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %62 = "stablehlo.exponential"(%61) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %63 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %64 = "stablehlo.reduce"(%62, %63) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %69 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%69) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1xf32>
    %66 = "stablehlo.log"(%65) : (tensor<64x1xf32>) -> tensor<64x1xf32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x64xf32>
    %68 = "stablehlo.subtract"(%61, %67) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%68, %62, %65) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x64xf32>) -> (tensor<64xf32>, tensor<i32>, tensor<64x64xf32>, tensor<64x2xi32>), res_attrs = [{}, {}, {}, {}], sym_name = "diagonal", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<64x64xf32>):
    %20 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64x64xi32>
    %21 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<64x64xi32>
    %22 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64x64xi32>
    %24 = "stablehlo.add"(%20, %23) : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi32>
    %25 = "stablehlo.compare"(%24, %21) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
    %26 = "stablehlo.convert"(%25) : (tensor<64x64xi1>) -> tensor<64x64xf32>
    %27 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %28 = "stablehlo.case"(%27) ({
      %53 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      "stablehlo.return"(%53) : (tensor<i32>) -> ()
    }, {
      %52 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      "stablehlo.return"(%52) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    %29:3 = "stablehlo.case"(%28) ({
      %30 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64xi32>
      %31 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64xi32>
      %32 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64xi32>
      %34 = "stablehlo.compare"(%30, %33) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
      %35 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
      %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64xi32>
      %37 = "stablehlo.add"(%30, %36) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
      %38 = "stablehlo.select"(%34, %37, %30) : (tensor<64xi1>, tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
      %39 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64xi32>
      %41 = "stablehlo.compare"(%31, %40) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
      %42 = "stablehlo.constant"() <{value = dense<64> : tensor<i32>}> : () -> tensor<i32>
      %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64xi32>
      %44 = "stablehlo.add"(%31, %43) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
      %45 = "stablehlo.select"(%41, %44, %31) : (tensor<64xi1>, tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
      %46 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xi32>) -> tensor<64x1xi32>
      %47 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xi32>) -> tensor<64x1xi32>
      %48 = "stablehlo.concatenate"(%46, %47) <{dimension = 1 : i64}> : (tensor<64x1xi32>, tensor<64x1xi32>) -> tensor<64x2xi32>
      %49 = "stablehlo.gather"(%arg13, %48) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<64x64xf32>, tensor<64x2xi32>) -> tensor<64xf32>
      %50 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
      "stablehlo.return"(%49, %51, %48) : (tensor<64xf32>, tensor<64x64xf32>, tensor<64x2xi32>) -> ()
    }) : (tensor<i32>) -> (tensor<64xf32>, tensor<64x64xf32>, tensor<64x2xi32>)
    "func.return"(%29#0, %27, %29#1, %29#2) : (tensor<64xf32>, tensor<i32>, tensor<64x64xf32>, tensor<64x2xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<i32>, tensor<64x64xf32>, tensor<64x2xi32>, tensor<64xf32>) -> tensor<64x64xf32>, res_attrs = [{}], sym_name = "diagonal_0", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<i32>, %arg8: tensor<64x64xf32>, %arg9: tensor<64x2xi32>, %arg10: tensor<64xf32>):
    %12 = "stablehlo.case"(%arg7) ({
      %19 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      "stablehlo.return"(%19) : (tensor<i32>) -> ()
    }, {
      %18 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      "stablehlo.return"(%18) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    %13 = "stablehlo.case"(%12) ({
      %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
      %16 = "stablehlo.scatter"(%15, %arg9, %arg10) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
      ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
        %17 = "stablehlo.add"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%17) : (tensor<f32>) -> ()
      }) : (tensor<64x64xf32>, tensor<64x2xi32>, tensor<64xf32>) -> tensor<64x64xf32>
      "stablehlo.return"(%16) : (tensor<64x64xf32>) -> ()
    }) : (tensor<i32>) -> tensor<64x64xf32>
    "func.return"(%13) : (tensor<64x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<64x64xf32>, tensor<64x1xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>, res_attrs = [{}], sym_name = "log_softmax_1", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64x64xf32>, %arg1: tensor<64x1xf32>, %arg2: tensor<64x64xf32>):
    %0 = "stablehlo.negate"(%arg2) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %11 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%11) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<64xf32>) -> tensor<64x1xf32>
    %4 = "stablehlo.divide"(%3, %arg1) : (tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%4, %5) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %10 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%10) : (tensor<f32>) -> ()
    }) : (tensor<64x1xf32>, tensor<f32>) -> tensor<64xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x64xf32>
    %8 = "stablehlo.multiply"(%7, %arg0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %9 = "stablehlo.add"(%arg2, %8) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%9) : (tensor<64x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
