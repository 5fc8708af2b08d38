"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=8]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 8 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg14: tensor<64x256xf32>, %arg15: tensor<256x64xf32>, %arg16: tensor<64x64xf32>, %arg17: tensor<64x64xf32>):
    %42 = "stablehlo.reshape"(%arg16) : (tensor<64x64xf32>) -> tensor<4x16x64xf32>
    %43 = "sdy.sharding_constraint"(%42) <{sharding = #sdy.sharding<@mesh, [{}, {"dp"}, {}]>}> : (tensor<4x16x64xf32>) -> tensor<4x16x64xf32>
    %44 = "stablehlo.reshape"(%arg17) : (tensor<64x64xf32>) -> tensor<4x16x64xf32>
    %45 = "sdy.sharding_constraint"(%44) <{sharding = #sdy.sharding<@mesh, [{}, {"dp"}, {}]>}> : (tensor<4x16x64xf32>) -> tensor<4x16x64xf32>
    %46 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %48 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %50 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %52 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %53:8 = "stablehlo.while"(%43, %45, %arg14, %arg15, %52, %47, %49, %51) ({
    ^bb0(%arg28: tensor<4x16x64xf32>, %arg29: tensor<4x16x64xf32>, %arg30: tensor<64x256xf32>, %arg31: tensor<256x64xf32>, %arg32: tensor<i32>, %arg33: tensor<64x256xf32>, %arg34: tensor<256x64xf32>, %arg35: tensor<4xf32>):
      %73 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %74 = "stablehlo.compare"(%arg32, %73) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%74) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg20: tensor<4x16x64xf32>, %arg21: tensor<4x16x64xf32>, %arg22: tensor<64x256xf32>, %arg23: tensor<256x64xf32>, %arg24: tensor<i32>, %arg25: tensor<64x256xf32>, %arg26: tensor<256x64xf32>, %arg27: tensor<4xf32>):
      %67 = "func.call"(%arg20, %arg24) <{callee = @dynamic_index_in_dim}> : (tensor<4x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %68 = "func.call"(%arg21, %arg24) <{callee = @dynamic_index_in_dim}> : (tensor<4x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %69:3 = "func.call"(%arg22, %arg23, %arg25, %arg26, %67, %68) <{callee = @closed_call}> : (tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> (tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>)
      %70 = "func.call"(%arg27, %69#2, %arg24) <{callee = @dynamic_update_index_in_dim}> : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
      %71 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %72 = "stablehlo.add"(%arg24, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg20, %arg21, %arg22, %arg23, %72, %69#0, %69#1, %70) : (tensor<4x16x64xf32>, tensor<4x16x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<i32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<4xf32>) -> ()
    }) : (tensor<4x16x64xf32>, tensor<4x16x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<i32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<4xf32>) -> (tensor<4x16x64xf32>, tensor<4x16x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<i32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<4xf32>)
    %54 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %56 = "stablehlo.multiply"(%55, %53#5) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %57 = "stablehlo.subtract"(%arg14, %56) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %58 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x64xf32>
    %60 = "stablehlo.multiply"(%59, %53#6) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %61 = "stablehlo.subtract"(%arg15, %60) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    %62 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.reduce"(%53#7, %62) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %66 = "stablehlo.add"(%arg18, %arg19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%66) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %64 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.divide"(%63, %64) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%57, %61, %65) : (tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<4x16x64xf32>, %arg13: tensor<i32>):
    %38 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %39 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %40 = "stablehlo.dynamic_slice"(%arg12, %arg13, %38, %39) <{slice_sizes = array<i64: 1, 16, 64>}> : (tensor<4x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
    %41 = "stablehlo.reshape"(%40) : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
    "func.return"(%41) : (tensor<16x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<64x256xf32>, tensor<256x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> (tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>), res_attrs = [{}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<64x256xf32>, %arg5: tensor<256x64xf32>, %arg6: tensor<64x256xf32>, %arg7: tensor<256x64xf32>, %arg8: tensor<16x64xf32>, %arg9: tensor<16x64xf32>):
    %5 = "stablehlo.dot_general"(%arg8, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x256xf32>) -> tensor<16x256xf32>
    %6 = "func.call"(%5) <{callee = @relu}> : (tensor<16x256xf32>) -> tensor<16x256xf32>
    %7 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x256xf32>
    %9 = "stablehlo.compare"(%5, %8) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<16x256xi1>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x256xf32>
    %12 = "stablehlo.dot_general"(%6, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x256xf32>, tensor<256x64xf32>) -> tensor<16x64xf32>
    %13 = "stablehlo.subtract"(%12, %arg9) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %14 = "stablehlo.multiply"(%13, %13) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %15 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %17 = "stablehlo.multiply"(%16, %13) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %18 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.reduce"(%14, %18) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %37 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%37) : (tensor<f32>) -> ()
    }) : (tensor<16x64xf32>, tensor<f32>) -> tensor<f32>
    %20 = "stablehlo.constant"() <{value = dense<1.024000e+03> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.divide"(%19, %20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %22 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.constant"() <{value = dense<1.024000e+03> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.divide"(%22, %23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %26 = "stablehlo.multiply"(%25, %17) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %27 = "stablehlo.dot_general"(%26, %6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<16x256xf32>) -> tensor<64x256xf32>
    %28 = "stablehlo.transpose"(%27) <{permutation = array<i64: 1, 0>}> : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %29 = "stablehlo.dot_general"(%26, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<256x64xf32>) -> tensor<16x256xf32>
    %30 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x256xf32>
    %32 = "stablehlo.select"(%9, %29, %31) : (tensor<16x256xi1>, tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
    %33 = "stablehlo.dot_general"(%32, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x256xf32>, tensor<16x64xf32>) -> tensor<256x64xf32>
    %34 = "stablehlo.transpose"(%33) <{permutation = array<i64: 1, 0>}> : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %35 = "stablehlo.add"(%arg6, %34) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %36 = "stablehlo.add"(%arg7, %28) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    "func.return"(%35, %36, %21) : (tensor<64x256xf32>, tensor<256x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x256xf32>) -> tensor<16x256xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<16x256xf32>):
    %2 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x256xf32>
    %4 = "stablehlo.maximum"(%arg3, %3) : (tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
    "func.return"(%4) : (tensor<16x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %1 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2) : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
    "func.return"(%1) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
