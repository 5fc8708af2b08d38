"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=4, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}], function_type = (tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['u']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[0]['w']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg18: tensor<64x64xf32>, %arg19: tensor<64x64xf32>, %arg20: tensor<16x32x64xf32>, %arg21: tensor<16x32x64xf32>):
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %28 = "stablehlo.transpose"(%arg20) <{permutation = array<i64: 1, 0, 2>}> : (tensor<16x32x64xf32>) -> tensor<32x16x64xf32>
    %29 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16x64xf32>
    %31 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16x64xf32>
    %33 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16x64xf32>
    %35 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x16x64xf32>
    %37 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %38:9 = "stablehlo.while"(%28, %arg19, %arg18, %37, %27, %30, %32, %34, %36) ({
    ^bb0(%arg53: tensor<32x16x64xf32>, %arg54: tensor<64x64xf32>, %arg55: tensor<64x64xf32>, %arg56: tensor<i32>, %arg57: tensor<16x64xf32>, %arg58: tensor<32x16x64xf32>, %arg59: tensor<32x16x64xf32>, %arg60: tensor<32x16x64xf32>, %arg61: tensor<32x16x64xf32>):
      %96 = "stablehlo.constant"() <{value = dense<32> : tensor<i32>}> : () -> tensor<i32>
      %97 = "stablehlo.compare"(%arg56, %96) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%97) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg44: tensor<32x16x64xf32>, %arg45: tensor<64x64xf32>, %arg46: tensor<64x64xf32>, %arg47: tensor<i32>, %arg48: tensor<16x64xf32>, %arg49: tensor<32x16x64xf32>, %arg50: tensor<32x16x64xf32>, %arg51: tensor<32x16x64xf32>, %arg52: tensor<32x16x64xf32>):
      %88 = "func.call"(%arg44, %arg47) <{callee = @dynamic_index_in_dim}> : (tensor<32x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %89:5 = "func.call"(%arg45, %arg46, %arg48, %88) <{callee = @closed_call}> : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>)
      %90 = "func.call"(%arg49, %89#1, %arg47) <{callee = @dynamic_update_index_in_dim}> : (tensor<32x16x64xf32>, tensor<16x64xf32>, tensor<i32>) -> tensor<32x16x64xf32>
      %91 = "func.call"(%arg50, %89#2, %arg47) <{callee = @dynamic_update_index_in_dim}> : (tensor<32x16x64xf32>, tensor<16x64xf32>, tensor<i32>) -> tensor<32x16x64xf32>
      %92 = "func.call"(%arg51, %89#3, %arg47) <{callee = @dynamic_update_index_in_dim}> : (tensor<32x16x64xf32>, tensor<16x64xf32>, tensor<i32>) -> tensor<32x16x64xf32>
      %93 = "func.call"(%arg52, %89#4, %arg47) <{callee = @dynamic_update_index_in_dim}> : (tensor<32x16x64xf32>, tensor<16x64xf32>, tensor<i32>) -> tensor<32x16x64xf32>
      %94 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %95 = "stablehlo.add"(%arg47, %94) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg44, %arg45, %arg46, %95, %89#0, %90, %91, %92, %93) : (tensor<32x16x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<i32>, tensor<16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>) -> ()
    }) : (tensor<32x16x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<i32>, tensor<16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>) -> (tensor<32x16x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<i32>, tensor<16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>)
    %39 = "stablehlo.transpose"(%38#5) <{permutation = array<i64: 1, 0, 2>}> : (tensor<32x16x64xf32>) -> tensor<16x32x64xf32>
    %40 = "stablehlo.subtract"(%39, %arg21) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %41 = "stablehlo.multiply"(%40, %40) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %42 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %44 = "stablehlo.multiply"(%43, %40) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %45 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.reduce"(%41, %45) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg42: tensor<f32>, %arg43: tensor<f32>):
      %87 = "stablehlo.add"(%arg42, %arg43) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%87) : (tensor<f32>) -> ()
    }) : (tensor<16x32x64xf32>, tensor<f32>) -> tensor<f32>
    %47 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.divide"(%46, %47) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %49 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %51 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.constant"() <{value = dense<3.276800e+04> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.divide"(%51, %52) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %54 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32x64xf32>
    %55 = "stablehlo.multiply"(%54, %44) : (tensor<16x32x64xf32>, tensor<16x32x64xf32>) -> tensor<16x32x64xf32>
    %56 = "stablehlo.transpose"(%55) <{permutation = array<i64: 1, 0, 2>}> : (tensor<16x32x64xf32>) -> tensor<32x16x64xf32>
    %57 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %59 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %61 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %62 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %63 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %64:10 = "stablehlo.while"(%56, %38#6, %28, %38#7, %38#8, %arg19, %63, %60, %62, %58) ({
    ^bb0(%arg32: tensor<32x16x64xf32>, %arg33: tensor<32x16x64xf32>, %arg34: tensor<32x16x64xf32>, %arg35: tensor<32x16x64xf32>, %arg36: tensor<32x16x64xf32>, %arg37: tensor<64x64xf32>, %arg38: tensor<i32>, %arg39: tensor<64x64xf32>, %arg40: tensor<64x64xf32>, %arg41: tensor<16x64xf32>):
      %85 = "stablehlo.constant"() <{value = dense<32> : tensor<i32>}> : () -> tensor<i32>
      %86 = "stablehlo.compare"(%arg38, %85) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%86) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg22: tensor<32x16x64xf32>, %arg23: tensor<32x16x64xf32>, %arg24: tensor<32x16x64xf32>, %arg25: tensor<32x16x64xf32>, %arg26: tensor<32x16x64xf32>, %arg27: tensor<64x64xf32>, %arg28: tensor<i32>, %arg29: tensor<64x64xf32>, %arg30: tensor<64x64xf32>, %arg31: tensor<16x64xf32>):
      %73 = "stablehlo.constant"() <{value = dense<32> : tensor<i32>}> : () -> tensor<i32>
      %74 = "stablehlo.subtract"(%73, %arg28) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %75 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %76 = "stablehlo.subtract"(%74, %75) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %77 = "func.call"(%arg22, %76) <{callee = @dynamic_index_in_dim}> : (tensor<32x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %78 = "func.call"(%arg23, %76) <{callee = @dynamic_index_in_dim}> : (tensor<32x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %79 = "func.call"(%arg24, %76) <{callee = @dynamic_index_in_dim}> : (tensor<32x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %80 = "func.call"(%arg25, %76) <{callee = @dynamic_index_in_dim}> : (tensor<32x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %81 = "func.call"(%arg26, %76) <{callee = @dynamic_index_in_dim}> : (tensor<32x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %82:3 = "func.call"(%arg27, %arg29, %arg30, %arg31, %77, %78, %79, %80, %81) <{callee = @closed_call_0}> : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>)
      %83 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %84 = "stablehlo.add"(%arg28, %83) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg22, %arg23, %arg24, %arg25, %arg26, %arg27, %84, %82#0, %82#1, %82#2) : (tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<64x64xf32>, tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>) -> ()
    }) : (tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<64x64xf32>, tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>) -> (tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<32x16x64xf32>, tensor<64x64xf32>, tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>)
    %65 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %67 = "stablehlo.multiply"(%66, %64#8) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %68 = "stablehlo.subtract"(%arg18, %67) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %69 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %71 = "stablehlo.multiply"(%70, %64#7) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %72 = "stablehlo.subtract"(%arg19, %71) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%68, %72, %48) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<32x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg16: tensor<32x16x64xf32>, %arg17: tensor<i32>):
    %22 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %23 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %24 = "stablehlo.dynamic_slice"(%arg16, %arg17, %22, %23) <{slice_sizes = array<i64: 1, 16, 64>}> : (tensor<32x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
    %25 = "stablehlo.reshape"(%24) : (tensor<1x16x64xf32>) -> tensor<16x64xf32>
    "func.return"(%25) : (tensor<16x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>), res_attrs = [{}, {}, {}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<64x64xf32>, %arg13: tensor<64x64xf32>, %arg14: tensor<16x64xf32>, %arg15: tensor<16x64xf32>):
    %15 = "stablehlo.dot_general"(%arg14, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    %16 = "stablehlo.dot_general"(%arg15, %arg13) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    %17 = "stablehlo.add"(%15, %16) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %18 = "stablehlo.tanh"(%17) : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %19 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x64xf32>
    %21 = "stablehlo.subtract"(%20, %18) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    "func.return"(%18, %18, %arg14, %18, %21) : (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<32x16x64xf32>, tensor<16x64xf32>, tensor<i32>) -> tensor<32x16x64xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<32x16x64xf32>, %arg10: tensor<16x64xf32>, %arg11: tensor<i32>):
    %11 = "stablehlo.broadcast_in_dim"(%arg10) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
    %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %13 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %14 = "stablehlo.dynamic_update_slice"(%arg9, %11, %arg11, %12, %13) : (tensor<32x16x64xf32>, tensor<1x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<32x16x64xf32>
    "func.return"(%14) : (tensor<32x16x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>), res_attrs = [{}, {}, {}], sym_name = "closed_call_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<64x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<64x64xf32>, %arg3: tensor<16x64xf32>, %arg4: tensor<16x64xf32>, %arg5: tensor<16x64xf32>, %arg6: tensor<16x64xf32>, %arg7: tensor<16x64xf32>, %arg8: tensor<16x64xf32>):
    %0 = "stablehlo.add"(%arg3, %arg4) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %1 = "stablehlo.multiply"(%0, %arg8) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %2 = "stablehlo.multiply"(%1, %arg7) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %3 = "stablehlo.add"(%1, %2) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %4 = "stablehlo.dot_general"(%3, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
    %5 = "stablehlo.transpose"(%4) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %6 = "stablehlo.add"(%arg2, %5) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %7 = "stablehlo.dot_general"(%3, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
    %8 = "stablehlo.transpose"(%7) <{permutation = array<i64: 1, 0>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %9 = "stablehlo.add"(%arg1, %8) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %10 = "stablehlo.dot_general"(%3, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    "func.return"(%9, %6, %10) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<16x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
