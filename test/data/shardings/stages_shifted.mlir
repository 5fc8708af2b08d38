"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["pp"=4, "dp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "pp", size = 4 : i64}, {name = "dp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"pp"}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"dp"}, {}]>}], function_type = (tensor<4x64x64xf32>, tensor<6x8x64xf32>) -> (tensor<4x64x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['w']", sdy.sharding = #sdy.sharding<@mesh, [{"pp"}, {}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg29: tensor<4x64x64xf32>, %arg30: tensor<6x8x64xf32>):
    %62 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8x64xf32>
    %64 = "sdy.sharding_constraint"(%63) <{sharding = #sdy.sharding<@mesh, [{"pp"}, {"dp"}, {}]>}> : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
    %65 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x64xf32>
    "func.call"() <{callee = @relu}> : () -> ()
    %67 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %68 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8x64xf32>
    %69 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6x8x64xf32>
    %71 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %72 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6x4x8x64xf32>
    %73 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<6x4x8x64xi1>
    %75 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %76:7 = "stablehlo.while"(%arg30, %arg29, %75, %64, %70, %72, %74) ({
    ^bb0(%arg58: tensor<6x8x64xf32>, %arg59: tensor<4x64x64xf32>, %arg60: tensor<i32>, %arg61: tensor<4x8x64xf32>, %arg62: tensor<6x8x64xf32>, %arg63: tensor<6x4x8x64xf32>, %arg64: tensor<6x4x8x64xi1>):
      %122 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
      %123 = "stablehlo.compare"(%arg60, %122) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%123) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg51: tensor<6x8x64xf32>, %arg52: tensor<4x64x64xf32>, %arg53: tensor<i32>, %arg54: tensor<4x8x64xf32>, %arg55: tensor<6x8x64xf32>, %arg56: tensor<6x4x8x64xf32>, %arg57: tensor<6x4x8x64xi1>):
      %115 = "func.call"(%arg51, %arg53) <{callee = @dynamic_index_in_dim}> : (tensor<6x8x64xf32>, tensor<i32>) -> tensor<8x64xf32>
      %116:4 = "func.call"(%arg52, %arg54, %115) <{callee = @closed_call}> : (tensor<4x64x64xf32>, tensor<4x8x64xf32>, tensor<8x64xf32>) -> (tensor<4x8x64xf32>, tensor<8x64xf32>, tensor<4x8x64xf32>, tensor<4x8x64xi1>)
      %117 = "func.call"(%arg55, %116#1, %arg53) <{callee = @dynamic_update_index_in_dim}> : (tensor<6x8x64xf32>, tensor<8x64xf32>, tensor<i32>) -> tensor<6x8x64xf32>
      %118 = "func.call"(%arg56, %116#2, %arg53) <{callee = @dynamic_update_index_in_dim_1}> : (tensor<6x4x8x64xf32>, tensor<4x8x64xf32>, tensor<i32>) -> tensor<6x4x8x64xf32>
      %119 = "func.call"(%arg57, %116#3, %arg53) <{callee = @dynamic_update_index_in_dim_2}> : (tensor<6x4x8x64xi1>, tensor<4x8x64xi1>, tensor<i32>) -> tensor<6x4x8x64xi1>
      %120 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %121 = "stablehlo.add"(%arg53, %120) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg51, %arg52, %121, %116#0, %117, %118, %119) : (tensor<6x8x64xf32>, tensor<4x64x64xf32>, tensor<i32>, tensor<4x8x64xf32>, tensor<6x8x64xf32>, tensor<6x4x8x64xf32>, tensor<6x4x8x64xi1>) -> ()
    }) : (tensor<6x8x64xf32>, tensor<4x64x64xf32>, tensor<i32>, tensor<4x8x64xf32>, tensor<6x8x64xf32>, tensor<6x4x8x64xf32>, tensor<6x4x8x64xi1>) -> (tensor<6x8x64xf32>, tensor<4x64x64xf32>, tensor<i32>, tensor<4x8x64xf32>, tensor<6x8x64xf32>, tensor<6x4x8x64xf32>, tensor<6x4x8x64xi1>)
    %77 = "stablehlo.multiply"(%76#4, %76#4) : (tensor<6x8x64xf32>, tensor<6x8x64xf32>) -> tensor<6x8x64xf32>
    %78 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %79 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6x8x64xf32>
    %80 = "stablehlo.multiply"(%79, %76#4) : (tensor<6x8x64xf32>, tensor<6x8x64xf32>) -> tensor<6x8x64xf32>
    %81 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %82 = "stablehlo.reduce"(%77, %81) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg49: tensor<f32>, %arg50: tensor<f32>):
      %114 = "stablehlo.add"(%arg49, %arg50) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%114) : (tensor<f32>) -> ()
    }) : (tensor<6x8x64xf32>, tensor<f32>) -> tensor<f32>
    %83 = "stablehlo.constant"() <{value = dense<3.072000e+03> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.divide"(%82, %83) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %85 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8x64xf32>
    %87 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %88 = "stablehlo.constant"() <{value = dense<3.072000e+03> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.divide"(%87, %88) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %90 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6x8x64xf32>
    %91 = "stablehlo.multiply"(%90, %80) : (tensor<6x8x64xf32>, tensor<6x8x64xf32>) -> tensor<6x8x64xf32>
    %92 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %93 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8x64xf32>
    %94 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x64x64xf32>
    %96 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %97:9 = "stablehlo.while"(%91, %76#5, %76#6, %66, %arg29, %68, %96, %95, %93) ({
    ^bb0(%arg40: tensor<6x8x64xf32>, %arg41: tensor<6x4x8x64xf32>, %arg42: tensor<6x4x8x64xi1>, %arg43: tensor<1x8x64xf32>, %arg44: tensor<4x64x64xf32>, %arg45: tensor<4x8x64xf32>, %arg46: tensor<i32>, %arg47: tensor<4x64x64xf32>, %arg48: tensor<4x8x64xf32>):
      %112 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
      %113 = "stablehlo.compare"(%arg46, %112) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%113) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg31: tensor<6x8x64xf32>, %arg32: tensor<6x4x8x64xf32>, %arg33: tensor<6x4x8x64xi1>, %arg34: tensor<1x8x64xf32>, %arg35: tensor<4x64x64xf32>, %arg36: tensor<4x8x64xf32>, %arg37: tensor<i32>, %arg38: tensor<4x64x64xf32>, %arg39: tensor<4x8x64xf32>):
      %102 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
      %103 = "stablehlo.subtract"(%102, %arg37) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %104 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %105 = "stablehlo.subtract"(%103, %104) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %106 = "func.call"(%arg31, %105) <{callee = @dynamic_index_in_dim_3}> : (tensor<6x8x64xf32>, tensor<i32>) -> tensor<8x64xf32>
      %107 = "func.call"(%arg32, %105) <{callee = @dynamic_index_in_dim_4}> : (tensor<6x4x8x64xf32>, tensor<i32>) -> tensor<4x8x64xf32>
      %108 = "func.call"(%arg33, %105) <{callee = @dynamic_index_in_dim_5}> : (tensor<6x4x8x64xi1>, tensor<i32>) -> tensor<4x8x64xi1>
      %109:2 = "func.call"(%arg34, %arg35, %arg36, %arg38, %arg39, %106, %107, %108) <{callee = @closed_call_6}> : (tensor<1x8x64xf32>, tensor<4x64x64xf32>, tensor<4x8x64xf32>, tensor<4x64x64xf32>, tensor<4x8x64xf32>, tensor<8x64xf32>, tensor<4x8x64xf32>, tensor<4x8x64xi1>) -> (tensor<4x64x64xf32>, tensor<4x8x64xf32>)
      %110 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %111 = "stablehlo.add"(%arg37, %110) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg31, %arg32, %arg33, %arg34, %arg35, %arg36, %111, %109#0, %109#1) : (tensor<6x8x64xf32>, tensor<6x4x8x64xf32>, tensor<6x4x8x64xi1>, tensor<1x8x64xf32>, tensor<4x64x64xf32>, tensor<4x8x64xf32>, tensor<i32>, tensor<4x64x64xf32>, tensor<4x8x64xf32>) -> ()
    }) : (tensor<6x8x64xf32>, tensor<6x4x8x64xf32>, tensor<6x4x8x64xi1>, tensor<1x8x64xf32>, tensor<4x64x64xf32>, tensor<4x8x64xf32>, tensor<i32>, tensor<4x64x64xf32>, tensor<4x8x64xf32>) -> (tensor<6x8x64xf32>, tensor<6x4x8x64xf32>, tensor<6x4x8x64xi1>, tensor<1x8x64xf32>, tensor<4x64x64xf32>, tensor<4x8x64xf32>, tensor<i32>, tensor<4x64x64xf32>, tensor<4x8x64xf32>)
    %98 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %99 = "stablehlo.broadcast_in_dim"(%98) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x64x64xf32>
    %100 = "stablehlo.multiply"(%99, %97#7) : (tensor<4x64x64xf32>, tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
    %101 = "stablehlo.subtract"(%arg29, %100) : (tensor<4x64x64xf32>, tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
    "func.return"(%101, %84) : (tensor<4x64x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [], function_type = () -> (), res_attrs = [], sym_name = "relu", sym_visibility = "private"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<6x8x64xf32>, tensor<i32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg27: tensor<6x8x64xf32>, %arg28: tensor<i32>):
    %58 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %59 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %60 = "stablehlo.dynamic_slice"(%arg27, %arg28, %58, %59) <{slice_sizes = array<i64: 1, 8, 64>}> : (tensor<6x8x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x64xf32>
    %61 = "stablehlo.reshape"(%60) : (tensor<1x8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%61) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x64x64xf32>, tensor<4x8x64xf32>, tensor<8x64xf32>) -> (tensor<4x8x64xf32>, tensor<8x64xf32>, tensor<4x8x64xf32>, tensor<4x8x64xi1>), res_attrs = [{}, {}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg24: tensor<4x64x64xf32>, %arg25: tensor<4x8x64xf32>, %arg26: tensor<8x64xf32>):
    %47 = "stablehlo.broadcast_in_dim"(%arg26) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x64xf32>) -> tensor<1x8x64xf32>
    %48 = "stablehlo.slice"(%arg25) <{limit_indices = array<i64: 3, 8, 64>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<4x8x64xf32>) -> tensor<3x8x64xf32>
    %49 = "stablehlo.concatenate"(%47, %48) <{dimension = 0 : i64}> : (tensor<1x8x64xf32>, tensor<3x8x64xf32>) -> tensor<4x8x64xf32>
    %50 = "stablehlo.dot_general"(%49, %arg24) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8x64xf32>, tensor<4x64x64xf32>) -> tensor<4x8x64xf32>
    %51 = "func.call"(%50) <{callee = @relu_0}> : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
    %52 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8x64xf32>
    %54 = "stablehlo.compare"(%50, %53) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xi1>
    %55 = "sdy.sharding_constraint"(%51) <{sharding = #sdy.sharding<@mesh, [{"pp"}, {"dp"}, {}]>}> : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
    %56 = "stablehlo.slice"(%55) <{limit_indices = array<i64: 4, 8, 64>, start_indices = array<i64: 3, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<4x8x64xf32>) -> tensor<1x8x64xf32>
    %57 = "stablehlo.reshape"(%56) : (tensor<1x8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%55, %57, %49, %54) : (tensor<4x8x64xf32>, tensor<8x64xf32>, tensor<4x8x64xf32>, tensor<4x8x64xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x8x64xf32>) -> tensor<4x8x64xf32>, res_attrs = [{}], sym_name = "relu_0", sym_visibility = "private"}> ({
  ^bb0(%arg23: tensor<4x8x64xf32>):
    %44 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8x64xf32>
    %46 = "stablehlo.maximum"(%arg23, %45) : (tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
    "func.return"(%46) : (tensor<4x8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<6x8x64xf32>, tensor<8x64xf32>, tensor<i32>) -> tensor<6x8x64xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<6x8x64xf32>, %arg21: tensor<8x64xf32>, %arg22: tensor<i32>):
    %40 = "stablehlo.broadcast_in_dim"(%arg21) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x64xf32>) -> tensor<1x8x64xf32>
    %41 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %42 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %43 = "stablehlo.dynamic_update_slice"(%arg20, %40, %arg22, %41, %42) : (tensor<6x8x64xf32>, tensor<1x8x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x8x64xf32>
    "func.return"(%43) : (tensor<6x8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<6x4x8x64xf32>, tensor<4x8x64xf32>, tensor<i32>) -> tensor<6x4x8x64xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_1", sym_visibility = "private"}> ({
  ^bb0(%arg17: tensor<6x4x8x64xf32>, %arg18: tensor<4x8x64xf32>, %arg19: tensor<i32>):
    %35 = "stablehlo.broadcast_in_dim"(%arg18) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<4x8x64xf32>) -> tensor<1x4x8x64xf32>
    %36 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %37 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %38 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %39 = "stablehlo.dynamic_update_slice"(%arg17, %35, %arg19, %36, %37, %38) : (tensor<6x4x8x64xf32>, tensor<1x4x8x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x4x8x64xf32>
    "func.return"(%39) : (tensor<6x4x8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<6x4x8x64xi1>, tensor<4x8x64xi1>, tensor<i32>) -> tensor<6x4x8x64xi1>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_2", sym_visibility = "private"}> ({
  ^bb0(%arg14: tensor<6x4x8x64xi1>, %arg15: tensor<4x8x64xi1>, %arg16: tensor<i32>):
    %30 = "stablehlo.broadcast_in_dim"(%arg15) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<4x8x64xi1>) -> tensor<1x4x8x64xi1>
    %31 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %32 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %33 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %34 = "stablehlo.dynamic_update_slice"(%arg14, %30, %arg16, %31, %32, %33) : (tensor<6x4x8x64xi1>, tensor<1x4x8x64xi1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x4x8x64xi1>
    "func.return"(%34) : (tensor<6x4x8x64xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<6x8x64xf32>, tensor<i32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_3", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<6x8x64xf32>, %arg13: tensor<i32>):
    %26 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %27 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %28 = "stablehlo.dynamic_slice"(%arg12, %arg13, %26, %27) <{slice_sizes = array<i64: 1, 8, 64>}> : (tensor<6x8x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x64xf32>
    %29 = "stablehlo.reshape"(%28) : (tensor<1x8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%29) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<6x4x8x64xf32>, tensor<i32>) -> tensor<4x8x64xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_4", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<6x4x8x64xf32>, %arg11: tensor<i32>):
    %21 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %22 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %23 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %24 = "stablehlo.dynamic_slice"(%arg10, %arg11, %21, %22, %23) <{slice_sizes = array<i64: 1, 4, 8, 64>}> : (tensor<6x4x8x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8x64xf32>
    %25 = "stablehlo.reshape"(%24) : (tensor<1x4x8x64xf32>) -> tensor<4x8x64xf32>
    "func.return"(%25) : (tensor<4x8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<6x4x8x64xi1>, tensor<i32>) -> tensor<4x8x64xi1>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_5", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<6x4x8x64xi1>, %arg9: tensor<i32>):
    %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %17 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %18 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %19 = "stablehlo.dynamic_slice"(%arg8, %arg9, %16, %17, %18) <{slice_sizes = array<i64: 1, 4, 8, 64>}> : (tensor<6x4x8x64xi1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8x64xi1>
    %20 = "stablehlo.reshape"(%19) : (tensor<1x4x8x64xi1>) -> tensor<4x8x64xi1>
    "func.return"(%20) : (tensor<4x8x64xi1>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x8x64xf32>, tensor<4x64x64xf32>, tensor<4x8x64xf32>, tensor<4x64x64xf32>, tensor<4x8x64xf32>, tensor<8x64xf32>, tensor<4x8x64xf32>, tensor<4x8x64xi1>) -> (tensor<4x64x64xf32>, tensor<4x8x64xf32>), res_attrs = [{}, {}], sym_name = "closed_call_6", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x8x64xf32>, %arg1: tensor<4x64x64xf32>, %arg2: tensor<4x8x64xf32>, %arg3: tensor<4x64x64xf32>, %arg4: tensor<4x8x64xf32>, %arg5: tensor<8x64xf32>, %arg6: tensor<4x8x64xf32>, %arg7: tensor<4x8x64xi1>):
    %0 = "stablehlo.broadcast_in_dim"(%arg5) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x64xf32>) -> tensor<1x8x64xf32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.pad"(%0, %1) <{edge_padding_high = array<i64: 0, 0, 0>, edge_padding_low = array<i64: 3, 0, 0>, interior_padding = array<i64: 0, 0, 0>}> : (tensor<1x8x64xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    %3 = "stablehlo.add"(%arg4, %2) : (tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
    %4 = "sdy.sharding_constraint"(%3) <{sharding = #sdy.sharding<@mesh, [{"pp"}, {"dp"}, {}]>}> : (tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8x64xf32>
    %7 = "stablehlo.select"(%arg7, %4, %6) : (tensor<4x8x64xi1>, tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
    %8 = "stablehlo.dot_general"(%7, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> tensor<4x64x64xf32>
    %9 = "stablehlo.transpose"(%8) <{permutation = array<i64: 0, 2, 1>}> : (tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
    %10 = "stablehlo.add"(%arg3, %9) : (tensor<4x64x64xf32>, tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
    %11 = "stablehlo.dot_general"(%7, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8x64xf32>, tensor<4x64x64xf32>) -> tensor<4x8x64xf32>
    %12 = "stablehlo.slice"(%11) <{limit_indices = array<i64: 1, 8, 64>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<4x8x64xf32>) -> tensor<1x8x64xf32>
    %13 = "stablehlo.slice"(%11) <{limit_indices = array<i64: 4, 8, 64>, start_indices = array<i64: 1, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<4x8x64xf32>) -> tensor<3x8x64xf32>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.pad"(%13, %14) <{edge_padding_high = array<i64: 1, 0, 0>, edge_padding_low = array<i64: 0, 0, 0>, interior_padding = array<i64: 0, 0, 0>}> : (tensor<3x8x64xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    "func.return"(%10, %15) : (tensor<4x64x64xf32>, tensor<4x8x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
