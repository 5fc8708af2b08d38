"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=8]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 8 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}], function_type = (tensor<64x8xf32>, tensor<8x64x256xf32>, tensor<8x256x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x8xf32>, tensor<8x64x256xf32>, tensor<8x256x64xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['gate']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, {jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}, {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg12: tensor<64x8xf32>, %arg13: tensor<8x64x256xf32>, %arg14: tensor<8x256x64xf32>, %arg15: tensor<64x64xf32>, %arg16: tensor<64x64xf32>):
    %33 = "stablehlo.dot_general"(%arg15, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %34 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.reduce"(%33, %34) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg27: tensor<f32>, %arg28: tensor<f32>):
      %158 = "stablehlo.maximum"(%arg27, %arg28) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%158) : (tensor<f32>) -> ()
    }) : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %36 = "stablehlo.reshape"(%35) : (tensor<64xf32>) -> tensor<64x1xf32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %38 = "stablehlo.compare"(%33, %37) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xi1>
    %39 = "stablehlo.convert"(%38) : (tensor<64x8xi1>) -> tensor<64x8xf32>
    %40 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.reduce"(%39, %40) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg25: tensor<f32>, %arg26: tensor<f32>):
      %157 = "stablehlo.add"(%arg25, %arg26) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%157) : (tensor<f32>) -> ()
    }) : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %42 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %44 = "stablehlo.maximum"(%43, %35) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %45 = "stablehlo.compare"(%35, %44) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %46 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %48 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %50 = "stablehlo.select"(%45, %47, %49) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %51 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %53 = "stablehlo.compare"(%52, %44) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %54 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %56 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %58 = "stablehlo.select"(%53, %55, %57) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %59 = "stablehlo.divide"(%50, %58) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %60 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1xf32>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %62 = "stablehlo.subtract"(%33, %61) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %63 = "stablehlo.exponential"(%62) : (tensor<64x8xf32>) -> tensor<64x8xf32>
    %64 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.reduce"(%63, %64) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %156 = "stablehlo.add"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%156) : (tensor<f32>) -> ()
    }) : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1xf32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %68 = "stablehlo.divide"(%63, %67) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %69 = "stablehlo.multiply"(%66, %66) : (tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
    %70 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %71 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x1xf32>
    %72 = "stablehlo.divide"(%71, %69) : (tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
    %73 = "func.call"(%68) <{callee = @argmax}> : (tensor<64x8xf32>) -> tensor<64xi32>
    %74 = "func.call"(%73) <{callee = @_one_hot}> : (tensor<64xi32>) -> tensor<64x8xf32>
    %75 = "func.call"(%74) <{callee = @cumsum}> : (tensor<64x8xf32>) -> tensor<64x8xf32>
    %76 = "stablehlo.multiply"(%75, %74) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %77 = "stablehlo.broadcast_in_dim"(%74) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x8xf32>) -> tensor<64x8x1xf32>
    %78 = "stablehlo.convert"(%76) : (tensor<64x8xf32>) -> tensor<64x8xi32>
    %79 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %80 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<64x8xi32>
    %81 = "stablehlo.subtract"(%78, %80) : (tensor<64x8xi32>, tensor<64x8xi32>) -> tensor<64x8xi32>
    %82 = "func.call"(%81) <{callee = @_one_hot_1}> : (tensor<64x8xi32>) -> tensor<64x8x16xf32>
    %83 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<64x8x1xf32>) -> tensor<64x8x16xf32>
    %84 = "stablehlo.multiply"(%83, %82) : (tensor<64x8x16xf32>, tensor<64x8x16xf32>) -> tensor<64x8x16xf32>
    %85 = "stablehlo.dot_general"(%84, %arg15) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x8x16xf32>, tensor<64x64xf32>) -> tensor<8x16x64xf32>
    %86 = "sdy.sharding_constraint"(%85) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}> : (tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
    %87 = "stablehlo.dot_general"(%86, %arg13) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16x64xf32>, tensor<8x64x256xf32>) -> tensor<8x16x256xf32>
    %88 = "func.call"(%87) <{callee = @relu}> : (tensor<8x16x256xf32>) -> tensor<8x16x256xf32>
    %89 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %90 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16x256xf32>
    %91 = "stablehlo.compare"(%87, %90) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x16x256xf32>, tensor<8x16x256xf32>) -> tensor<8x16x256xi1>
    %92 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %93 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16x256xf32>
    %94 = "stablehlo.dot_general"(%88, %arg14) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16x256xf32>, tensor<8x256x64xf32>) -> tensor<8x16x64xf32>
    %95 = "stablehlo.dot_general"(%84, %68) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x8x16xf32>, tensor<64x8xf32>) -> tensor<64x8x16xf32>
    %96 = "stablehlo.dot_general"(%95, %94) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2, 1], rhs_contracting_dimensions = [1, 0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x8x16xf32>, tensor<8x16x64xf32>) -> tensor<64x64xf32>
    %97 = "sdy.sharding_constraint"(%96) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %98 = "stablehlo.subtract"(%97, %arg16) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %99 = "stablehlo.multiply"(%98, %98) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %100 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %102 = "stablehlo.multiply"(%101, %98) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %103 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %104 = "stablehlo.reduce"(%99, %103) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg21: tensor<f32>, %arg22: tensor<f32>):
      %155 = "stablehlo.add"(%arg21, %arg22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%155) : (tensor<f32>) -> ()
    }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
    %105 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.divide"(%104, %105) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %107 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %108 = "stablehlo.constant"() <{value = dense<4.096000e+03> : tensor<f32>}> : () -> tensor<f32>
    %109 = "stablehlo.divide"(%107, %108) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %110 = "stablehlo.broadcast_in_dim"(%109) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x64xf32>
    %111 = "stablehlo.multiply"(%110, %102) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %112 = "sdy.sharding_constraint"(%111) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %113 = "stablehlo.dot_general"(%112, %95) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<64x8x16xf32>) -> tensor<64x8x16xf32>
    %114 = "stablehlo.transpose"(%113) <{permutation = array<i64: 1, 2, 0>}> : (tensor<64x8x16xf32>) -> tensor<8x16x64xf32>
    %115 = "stablehlo.dot_general"(%112, %94) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x64xf32>, tensor<8x16x64xf32>) -> tensor<64x8x16xf32>
    %116 = "stablehlo.dot_general"(%115, %84) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x8x16xf32>, tensor<64x8x16xf32>) -> tensor<64x8xf32>
    %117 = "stablehlo.dot_general"(%114, %88) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16x64xf32>, tensor<8x16x256xf32>) -> tensor<8x64x256xf32>
    %118 = "stablehlo.transpose"(%117) <{permutation = array<i64: 0, 2, 1>}> : (tensor<8x64x256xf32>) -> tensor<8x256x64xf32>
    %119 = "stablehlo.dot_general"(%114, %arg14) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16x64xf32>, tensor<8x256x64xf32>) -> tensor<8x16x256xf32>
    %120 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %121 = "stablehlo.broadcast_in_dim"(%120) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16x256xf32>
    %122 = "stablehlo.select"(%91, %119, %121) : (tensor<8x16x256xi1>, tensor<8x16x256xf32>, tensor<8x16x256xf32>) -> tensor<8x16x256xf32>
    %123 = "stablehlo.dot_general"(%122, %86) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x16x256xf32>, tensor<8x16x64xf32>) -> tensor<8x256x64xf32>
    %124 = "stablehlo.transpose"(%123) <{permutation = array<i64: 0, 2, 1>}> : (tensor<8x256x64xf32>) -> tensor<8x64x256xf32>
    %125 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %126 = "stablehlo.multiply"(%116, %125) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %127 = "stablehlo.multiply"(%126, %63) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %128 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %129 = "stablehlo.reduce"(%127, %128) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %154 = "stablehlo.add"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%154) : (tensor<f32>) -> ()
    }) : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
    %130 = "stablehlo.reshape"(%129) : (tensor<64xf32>) -> tensor<64x1xf32>
    %131 = "stablehlo.negate"(%130) : (tensor<64x1xf32>) -> tensor<64x1xf32>
    %132 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xf32>) -> tensor<64x8xf32>
    %133 = "stablehlo.divide"(%116, %132) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %134 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %135 = "stablehlo.reduce"(%131, %134) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %153 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%153) : (tensor<f32>) -> ()
    }) : (tensor<64x1xf32>, tensor<f32>) -> tensor<64xf32>
    %136 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x8xf32>
    %137 = "stablehlo.add"(%133, %136) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %138 = "stablehlo.multiply"(%137, %63) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %139 = "stablehlo.dot_general"(%138, %arg15) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<64x8xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %140 = "stablehlo.transpose"(%139) <{permutation = array<i64: 1, 0>}> : (tensor<8x64xf32>) -> tensor<64x8xf32>
    %141 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %142 = "stablehlo.broadcast_in_dim"(%141) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x8xf32>
    %143 = "stablehlo.multiply"(%142, %140) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %144 = "stablehlo.subtract"(%arg12, %143) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %145 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %146 = "stablehlo.broadcast_in_dim"(%145) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64x256xf32>
    %147 = "stablehlo.multiply"(%146, %124) : (tensor<8x64x256xf32>, tensor<8x64x256xf32>) -> tensor<8x64x256xf32>
    %148 = "stablehlo.subtract"(%arg13, %147) : (tensor<8x64x256xf32>, tensor<8x64x256xf32>) -> tensor<8x64x256xf32>
    %149 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x256x64xf32>
    %151 = "stablehlo.multiply"(%150, %118) : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
    %152 = "stablehlo.subtract"(%arg14, %151) : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
    "func.return"(%144, %148, %152, %106) : (tensor<64x8xf32>, tensor<8x64x256xf32>, tensor<8x256x64xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<64x8xf32>) -> tensor<64xi32>, sym_name = "argmax", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<64x8xf32>):
    %20 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<64x8xi32>
    %21 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %23:2 = "stablehlo.reduce"(%arg7, %20, %21, %22) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<i32>, %arg10: tensor<f32>, %arg11: tensor<i32>):
      %24 = "stablehlo.compare"(%arg8, %arg10) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %25 = "stablehlo.compare"(%arg8, %arg8) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %26 = "stablehlo.or"(%24, %25) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %27 = "stablehlo.compare"(%arg8, %arg10) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %28 = "stablehlo.compare"(%arg9, %arg11) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %29 = "stablehlo.and"(%27, %28) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %30 = "stablehlo.or"(%26, %29) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %31 = "stablehlo.select"(%26, %arg8, %arg10) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %32 = "stablehlo.select"(%30, %arg9, %arg11) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%31, %32) : (tensor<f32>, tensor<i32>) -> ()
    }) : (tensor<64x8xf32>, tensor<64x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<64xf32>, tensor<64xi32>)
    "func.return"(%23#1) : (tensor<64xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64xi32>) -> tensor<64x8xf32>, res_attrs = [{}], sym_name = "_one_hot", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<64xi32>):
    %14 = "stablehlo.broadcast_in_dim"(%arg6) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xi32>) -> tensor<64x1xi32>
    %15 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x8xi32>
    %16 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x1xi32>) -> tensor<64x8xi32>
    %17 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x8xi32>) -> tensor<64x8xi32>
    %18 = "stablehlo.compare"(%16, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64x8xi32>, tensor<64x8xi32>) -> tensor<64x8xi1>
    %19 = "stablehlo.convert"(%18) : (tensor<64x8xi1>) -> tensor<64x8xf32>
    "func.return"(%19) : (tensor<64x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x8xf32>) -> tensor<64x8xf32>, res_attrs = [{}], sym_name = "cumsum", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<64x8xf32>):
    %13 = "func.call"(%arg5) <{callee = @cumsum_0}> : (tensor<64x8xf32>) -> tensor<64x8xf32>
    "func.return"(%13) : (tensor<64x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<64x8xf32>) -> tensor<64x8xf32>, sym_name = "cumsum_0", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<64x8xf32>):
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %11 = "stablehlo.reduce_window"(%arg2, %10) <{base_dilations = array<i64: 1, 1>, padding = dense<[[63, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 64, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %12 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%12) : (tensor<f32>) -> ()
    }) : (tensor<64x8xf32>, tensor<f32>) -> tensor<64x8xf32>
    "func.return"(%11) : (tensor<64x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<64x8xi32>) -> tensor<64x8x16xf32>, res_attrs = [{}], sym_name = "_one_hot_1", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<64x8xi32>):
    %3 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<64x8xi32>) -> tensor<64x8x1xi32>
    %4 = "stablehlo.iota"() <{iota_dimension = 2 : i64}> : () -> tensor<1x1x16xi32>
    %5 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<64x8x1xi32>) -> tensor<64x8x16xi32>
    %6 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x16xi32>) -> tensor<64x8x16xi32>
    %7 = "stablehlo.compare"(%5, %6) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<64x8x16xi32>, tensor<64x8x16xi32>) -> tensor<64x8x16xi1>
    %8 = "stablehlo.convert"(%7) : (tensor<64x8x16xi1>) -> tensor<64x8x16xf32>
    "func.return"(%8) : (tensor<64x8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x16x256xf32>) -> tensor<8x16x256xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x16x256xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x16x256xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<8x16x256xf32>, tensor<8x16x256xf32>) -> tensor<8x16x256xf32>
    "func.return"(%2) : (tensor<8x16x256xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
