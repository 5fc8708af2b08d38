"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=4, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<64xf32>, tensor<2xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64xf32>, tensor<2xf32>, tensor<64x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['b1']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {jax.result_info = "result[0]['flag']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, {jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<64xf32>, %arg2: tensor<2xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<64x64xf32>):
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.reduce"(%arg2, %3) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %75 = "stablehlo.add"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%75) : (tensor<f32>) -> ()
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.compare"(%4, %5) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %7 = "stablehlo.convert"(%6) : (tensor<i1>) -> tensor<i32>
    %8:2 = "stablehlo.case"(%7) ({
      %66 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
      %68 = "stablehlo.multiply"(%arg4, %67) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %69 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<1x64xf32>
      %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x64xf32>) -> tensor<64x64xf32>
      %71 = "stablehlo.add"(%68, %70) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %72 = "sdy.sharding_constraint"(%71) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %73 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
      "stablehlo.return"(%72, %74) : (tensor<64x64xf32>, tensor<64x64xf32>) -> ()
    }, {
      %62 = "stablehlo.dot_general"(%arg4, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %63 = "sdy.sharding_constraint"(%62) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %64 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
      "stablehlo.return"(%63, %arg4) : (tensor<64x64xf32>, tensor<64x64xf32>) -> ()
    }) : (tensor<i32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
    %9 = "func.call"(%8#0) <{callee = @relu}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %12 = "stablehlo.compare"(%8#0, %11) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
    %13 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %15 = "stablehlo.multiply"(%9, %9) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %16 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %18 = "stablehlo.multiply"(%17, %9) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %19 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.reduce"(%15, %19) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %61 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%61) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
    %21 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.divide"(%20, %21) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %23 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.divide"(%23, %24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %27 = "stablehlo.multiply"(%26, %18) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %28 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %30 = "stablehlo.select"(%12, %27, %29) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %31:2 = "stablehlo.case"(%7) ({
      %51 = "sdy.sharding_constraint"(%30) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %52 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %53 = "stablehlo.reduce"(%51, %52) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %60 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%60) : (tensor<f32>) -> ()
      }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
      %54 = "stablehlo.reshape"(%53) : (tensor<64xf32>) -> tensor<1x64xf32>
      %55 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %56 = "stablehlo.reduce"(%54, %55) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %59 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%59) : (tensor<f32>) -> ()
      }) : (tensor<1x64xf32>, tensor<f32>) -> tensor<64xf32>
      %57 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
      "stablehlo.return"(%58, %56) : (tensor<64x64xf32>, tensor<64xf32>) -> ()
    }, {
      %46 = "sdy.sharding_constraint"(%30) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %47 = "stablehlo.dot_general"(%46, %8#1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %48 = "stablehlo.transpose"(%47) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %49 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
      "stablehlo.return"(%48, %50) : (tensor<64x64xf32>, tensor<64xf32>) -> ()
    }) : (tensor<i32>) -> (tensor<64x64xf32>, tensor<64xf32>)
    %32 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %34 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %36 = "stablehlo.multiply"(%35, %31#1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %37 = "stablehlo.subtract"(%arg1, %36) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %38 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %40 = "stablehlo.multiply"(%39, %33) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %41 = "stablehlo.subtract"(%arg2, %40) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %42 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %44 = "stablehlo.multiply"(%43, %31#0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %45 = "stablehlo.subtract"(%arg3, %44) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%37, %41, %45, %22) : (tensor<64xf32>, tensor<2xf32>, tensor<64x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x64xf32>) -> tensor<64x64xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64x64xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%2) : (tensor<64x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
