"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=8]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 8 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<4x64x256xf32>, tensor<4x256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<4x64x256xf32>, tensor<4x256x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"dp"}, {}]>}, {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"dp"}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg33: tensor<4x64x256xf32>, %arg34: tensor<4x256x64xf32>, %arg35: tensor<64x64xf32>, %arg36: tensor<64x64xf32>):
    "func.call"() <{callee = @relu}> : () -> ()
    %56 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %58 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x64x64xf32>
    %60 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<4x64x256xi1>
    %62 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x64x256xf32>
    %64 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %65:7 = "stablehlo.while"(%arg33, %arg34, %64, %arg35, %59, %61, %63) ({
    ^bb0(%arg66: tensor<4x64x256xf32>, %arg67: tensor<4x256x64xf32>, %arg68: tensor<i32>, %arg69: tensor<64x64xf32>, %arg70: tensor<4x64x64xf32>, %arg71: tensor<4x64x256xi1>, %arg72: tensor<4x64x256xf32>):
      %121 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %122 = "stablehlo.compare"(%arg68, %121) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%122) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg59: tensor<4x64x256xf32>, %arg60: tensor<4x256x64xf32>, %arg61: tensor<i32>, %arg62: tensor<64x64xf32>, %arg63: tensor<4x64x64xf32>, %arg64: tensor<4x64x256xi1>, %arg65: tensor<4x64x256xf32>):
      %113 = "func.call"(%arg59, %arg61) <{callee = @dynamic_index_in_dim}> : (tensor<4x64x256xf32>, tensor<i32>) -> tensor<64x256xf32>
      %114 = "func.call"(%arg60, %arg61) <{callee = @dynamic_index_in_dim_0}> : (tensor<4x256x64xf32>, tensor<i32>) -> tensor<256x64xf32>
      %115:4 = "func.call"(%arg62, %113, %114) <{callee = @closed_call}> : (tensor<64x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x256xi1>, tensor<64x256xf32>)
      %116 = "func.call"(%arg63, %115#1, %arg61) <{callee = @dynamic_update_index_in_dim}> : (tensor<4x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<4x64x64xf32>
      %117 = "func.call"(%arg64, %115#2, %arg61) <{callee = @dynamic_update_index_in_dim_2}> : (tensor<4x64x256xi1>, tensor<64x256xi1>, tensor<i32>) -> tensor<4x64x256xi1>
      %118 = "func.call"(%arg65, %115#3, %arg61) <{callee = @dynamic_update_index_in_dim_3}> : (tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<i32>) -> tensor<4x64x256xf32>
      %119 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %120 = "stablehlo.add"(%arg61, %119) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg59, %arg60, %120, %115#0, %116, %117, %118) : (tensor<4x64x256xf32>, tensor<4x256x64xf32>, tensor<i32>, tensor<64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x256xi1>, tensor<4x64x256xf32>) -> ()
    }) : (tensor<4x64x256xf32>, tensor<4x256x64xf32>, tensor<i32>, tensor<64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x256xi1>, tensor<4x64x256xf32>) -> (tensor<4x64x256xf32>, tensor<4x256x64xf32>, tensor<i32>, tensor<64x64xf32>, tensor<4x64x64xf32>, tensor<4x64x256xi1>, tensor<4x64x256xf32>)
    %66 = "stablehlo.subtract"(%65#3, %arg36) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %67 = "stablehlo.multiply"(%66, %66) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %68 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %69 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %70 = "stablehlo.multiply"(%69, %66) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %71 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %72 = "stablehlo.reduce"(%67, %71) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg57: tensor<f32>, %arg58: tensor<f32>):
      %112 = "stablehlo.add"(%arg57, %arg58) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%112) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
    %73 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %74 = "stablehlo.divide"(%72, %73) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %75 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %76 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %77 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %79 = "stablehlo.divide"(%77, %78) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %80 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %81 = "stablehlo.multiply"(%80, %70) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %82 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x64x256xf32>
    %84 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x256x64xf32>
    %86 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %87:10 = "stablehlo.while"(%arg33, %65#4, %65#5, %arg34, %65#6, %57, %86, %81, %83, %85) ({
    ^bb0(%arg47: tensor<4x64x256xf32>, %arg48: tensor<4x64x64xf32>, %arg49: tensor<4x64x256xi1>, %arg50: tensor<4x256x64xf32>, %arg51: tensor<4x64x256xf32>, %arg52: tensor<64x256xf32>, %arg53: tensor<i32>, %arg54: tensor<64x64xf32>, %arg55: tensor<4x64x256xf32>, %arg56: tensor<4x256x64xf32>):
      %110 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %111 = "stablehlo.compare"(%arg53, %110) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%111) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg37: tensor<4x64x256xf32>, %arg38: tensor<4x64x64xf32>, %arg39: tensor<4x64x256xi1>, %arg40: tensor<4x256x64xf32>, %arg41: tensor<4x64x256xf32>, %arg42: tensor<64x256xf32>, %arg43: tensor<i32>, %arg44: tensor<64x64xf32>, %arg45: tensor<4x64x256xf32>, %arg46: tensor<4x256x64xf32>):
      %96 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %97 = "stablehlo.subtract"(%96, %arg43) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %98 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %99 = "stablehlo.subtract"(%97, %98) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %100 = "func.call"(%arg37, %99) <{callee = @dynamic_index_in_dim}> : (tensor<4x64x256xf32>, tensor<i32>) -> tensor<64x256xf32>
      %101 = "func.call"(%arg38, %99) <{callee = @dynamic_index_in_dim_4}> : (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>
      %102 = "func.call"(%arg39, %99) <{callee = @dynamic_index_in_dim_5}> : (tensor<4x64x256xi1>, tensor<i32>) -> tensor<64x256xi1>
      %103 = "func.call"(%arg40, %99) <{callee = @dynamic_index_in_dim_0}> : (tensor<4x256x64xf32>, tensor<i32>) -> tensor<256x64xf32>
      %104 = "func.call"(%arg41, %99) <{callee = @dynamic_index_in_dim_6}> : (tensor<4x64x256xf32>, tensor<i32>) -> tensor<64x256xf32>
      %105:3 = "func.call"(%arg42, %arg44, %100, %101, %102, %103, %104) <{callee = @closed_call_7}> : (tensor<64x256xf32>, tensor<64x64xf32>, tensor<64x256xf32>, tensor<64x64xf32>, tensor<64x256xi1>, tensor<256x64xf32>, tensor<64x256xf32>) -> (tensor<64x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>)
      %106 = "func.call"(%arg45, %105#1, %99) <{callee = @dynamic_update_index_in_dim_3}> : (tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<i32>) -> tensor<4x64x256xf32>
      %107 = "func.call"(%arg46, %105#2, %99) <{callee = @dynamic_update_index_in_dim_8}> : (tensor<4x256x64xf32>, tensor<256x64xf32>, tensor<i32>) -> tensor<4x256x64xf32>
      %108 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %109 = "stablehlo.add"(%arg43, %108) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg37, %arg38, %arg39, %arg40, %arg41, %arg42, %109, %105#0, %106, %107) : (tensor<4x64x256xf32>, tensor<4x64x64xf32>, tensor<4x64x256xi1>, tensor<4x256x64xf32>, tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<i32>, tensor<64x64xf32>, tensor<4x64x256xf32>, tensor<4x256x64xf32>) -> ()
    }) : (tensor<4x64x256xf32>, tensor<4x64x64xf32>, tensor<4x64x256xi1>, tensor<4x256x64xf32>, tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<i32>, tensor<64x64xf32>, tensor<4x64x256xf32>, tensor<4x256x64xf32>) -> (tensor<4x64x256xf32>, tensor<4x64x64xf32>, tensor<4x64x256xi1>, tensor<4x256x64xf32>, tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<i32>, tensor<64x64xf32>, tensor<4x64x256xf32>, tensor<4x256x64xf32>)
    %88 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x64x256xf32>
    %90 = "stablehlo.multiply"(%89, %87#8) : (tensor<4x64x256xf32>, tensor<4x64x256xf32>) -> tensor<4x64x256xf32>
    %91 = "stablehlo.subtract"(%arg33, %90) : (tensor<4x64x256xf32>, tensor<4x64x256xf32>) -> tensor<4x64x256xf32>
    %92 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %93 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x256x64xf32>
    %94 = "stablehlo.multiply"(%93, %87#9) : (tensor<4x256x64xf32>, tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
    %95 = "stablehlo.subtract"(%arg34, %94) : (tensor<4x256x64xf32>, tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
    "func.return"(%91, %95, %74) : (tensor<4x64x256xf32>, tensor<4x256x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [], function_type = () -> (), res_attrs = [], sym_name = "relu", sym_visibility = "private"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x64x256xf32>, tensor<i32>) -> tensor<64x256xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg31: tensor<4x64x256xf32>, %arg32: tensor<i32>):
    %52 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %53 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %54 = "stablehlo.dynamic_slice"(%arg31, %arg32, %52, %53) <{slice_sizes = array<i64: 1, 64, 256>}> : (tensor<4x64x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x256xf32>
    %55 = "stablehlo.reshape"(%54) : (tensor<1x64x256xf32>) -> tensor<64x256xf32>
    "func.return"(%55) : (tensor<64x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x256x64xf32>, tensor<i32>) -> tensor<256x64xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_0", sym_visibility = "private"}> ({
  ^bb0(%arg29: tensor<4x256x64xf32>, %arg30: tensor<i32>):
    %48 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %49 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %50 = "stablehlo.dynamic_slice"(%arg29, %arg30, %48, %49) <{slice_sizes = array<i64: 1, 256, 64>}> : (tensor<4x256x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x64xf32>
    %51 = "stablehlo.reshape"(%50) : (tensor<1x256x64xf32>) -> tensor<256x64xf32>
    "func.return"(%51) : (tensor<256x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<64x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x256xi1>, tensor<64x256xf32>), res_attrs = [{}, {}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg26: tensor<64x64xf32>, %arg27: tensor<64x256xf32>, %arg28: tensor<256x64xf32>):
    %41 = "stablehlo.dot_general"(%arg26, %arg27) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %42 = "func.call"(%41) <{callee = @relu_1}> : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %43 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %45 = "stablehlo.compare"(%41, %44) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xi1>
    %46 = "stablehlo.dot_general"(%42, %arg28) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
    %47 = "stablehlo.add"(%arg26, %46) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%47, %arg26, %45, %42) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x256xi1>, tensor<64x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x256xf32>) -> tensor<64x256xf32>, res_attrs = [{}], sym_name = "relu_1", sym_visibility = "private"}> ({
  ^bb0(%arg25: tensor<64x256xf32>):
    %38 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %40 = "stablehlo.maximum"(%arg25, %39) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    "func.return"(%40) : (tensor<64x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x64x64xf32>, tensor<64x64xf32>, tensor<i32>) -> tensor<4x64x64xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg22: tensor<4x64x64xf32>, %arg23: tensor<64x64xf32>, %arg24: tensor<i32>):
    %34 = "stablehlo.broadcast_in_dim"(%arg23) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<64x64xf32>) -> tensor<1x64x64xf32>
    %35 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %36 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %37 = "stablehlo.dynamic_update_slice"(%arg22, %34, %arg24, %35, %36) : (tensor<4x64x64xf32>, tensor<1x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x64xf32>
    "func.return"(%37) : (tensor<4x64x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x64x256xi1>, tensor<64x256xi1>, tensor<i32>) -> tensor<4x64x256xi1>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_2", sym_visibility = "private"}> ({
  ^bb0(%arg19: tensor<4x64x256xi1>, %arg20: tensor<64x256xi1>, %arg21: tensor<i32>):
    %30 = "stablehlo.broadcast_in_dim"(%arg20) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<64x256xi1>) -> tensor<1x64x256xi1>
    %31 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %32 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %33 = "stablehlo.dynamic_update_slice"(%arg19, %30, %arg21, %31, %32) : (tensor<4x64x256xi1>, tensor<1x64x256xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x256xi1>
    "func.return"(%33) : (tensor<4x64x256xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<i32>) -> tensor<4x64x256xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_3", sym_visibility = "private"}> ({
  ^bb0(%arg16: tensor<4x64x256xf32>, %arg17: tensor<64x256xf32>, %arg18: tensor<i32>):
    %26 = "stablehlo.broadcast_in_dim"(%arg17) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<64x256xf32>) -> tensor<1x64x256xf32>
    %27 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %28 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %29 = "stablehlo.dynamic_update_slice"(%arg16, %26, %arg18, %27, %28) : (tensor<4x64x256xf32>, tensor<1x64x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x256xf32>
    "func.return"(%29) : (tensor<4x64x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x64x64xf32>, tensor<i32>) -> tensor<64x64xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_4", sym_visibility = "private"}> ({
  ^bb0(%arg14: tensor<4x64x64xf32>, %arg15: tensor<i32>):
    %22 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %23 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %24 = "stablehlo.dynamic_slice"(%arg14, %arg15, %22, %23) <{slice_sizes = array<i64: 1, 64, 64>}> : (tensor<4x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
    %25 = "stablehlo.reshape"(%24) : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%25) : (tensor<64x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x64x256xi1>, tensor<i32>) -> tensor<64x256xi1>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_5", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<4x64x256xi1>, %arg13: tensor<i32>):
    %18 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %19 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.dynamic_slice"(%arg12, %arg13, %18, %19) <{slice_sizes = array<i64: 1, 64, 256>}> : (tensor<4x64x256xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x256xi1>
    %21 = "stablehlo.reshape"(%20) : (tensor<1x64x256xi1>) -> tensor<64x256xi1>
    "func.return"(%21) : (tensor<64x256xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x64x256xf32>, tensor<i32>) -> tensor<64x256xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_6", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<4x64x256xf32>, %arg11: tensor<i32>):
    %14 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.dynamic_slice"(%arg10, %arg11, %14, %15) <{slice_sizes = array<i64: 1, 64, 256>}> : (tensor<4x64x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x256xf32>
    %17 = "stablehlo.reshape"(%16) : (tensor<1x64x256xf32>) -> tensor<64x256xf32>
    "func.return"(%17) : (tensor<64x256xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<64x256xf32>, tensor<64x64xf32>, tensor<64x256xf32>, tensor<64x64xf32>, tensor<64x256xi1>, tensor<256x64xf32>, tensor<64x256xf32>) -> (tensor<64x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>), res_attrs = [{}, {}, {}], sym_name = "closed_call_7", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<64x256xf32>, %arg4: tensor<64x64xf32>, %arg5: tensor<64x256xf32>, %arg6: tensor<64x64xf32>, %arg7: tensor<64x256xi1>, %arg8: tensor<256x64xf32>, %arg9: tensor<64x256xf32>):
    %4 = "stablehlo.dot_general"(%arg4, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %5 = "stablehlo.transpose"(%4) <{permutation = array<i64: 1, 0>}> : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %6 = "stablehlo.dot_general"(%arg4, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<256x64xf32>) -> tensor<64x256xf32>
    %7 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x256xf32>
    %9 = "stablehlo.select"(%arg7, %6, %8) : (tensor<64x256xi1>, tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %10 = "stablehlo.dot_general"(%9, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
    %11 = "stablehlo.transpose"(%10) <{permutation = array<i64: 1, 0>}> : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %12 = "stablehlo.dot_general"(%9, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x64xf32>
    %13 = "stablehlo.add"(%arg4, %12) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "func.return"(%13, %11, %5) : (tensor<64x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x256x64xf32>, tensor<256x64xf32>, tensor<i32>) -> tensor<4x256x64xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_8", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x256x64xf32>, %arg1: tensor<256x64xf32>, %arg2: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<256x64xf32>) -> tensor<1x256x64xf32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2, %1, %2) : (tensor<4x256x64xf32>, tensor<1x256x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x256x64xf32>
    "func.return"(%3) : (tensor<4x256x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
