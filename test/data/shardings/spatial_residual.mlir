"builtin.module"() <{sym_name = "jit_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "sp"=4]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "sp", size = 4 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"sp"}, {}, {}]>}], function_type = (tensor<3x3x4x8xf32>, tensor<3x3x8x4xf32>, tensor<4x32x16x4xf32>) -> (tensor<3x3x4x8xf32>, tensor<3x3x8x4xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['k1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, {jax.result_info = "result[0]['k2']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg43: tensor<3x3x4x8xf32>, %arg44: tensor<3x3x8x4xf32>, %arg45: tensor<4x32x16x4xf32>):
    %105 = "stablehlo.convolution"(%arg45, %arg43) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<4x32x16x4xf32>, tensor<3x3x4x8xf32>) -> tensor<4x32x16x8xf32>
    %106 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %107 = "stablehlo.reduce"(%105, %106) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg66: tensor<f32>, %arg67: tensor<f32>):
      %238 = "stablehlo.add"(%arg66, %arg67) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%238) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x8xf32>, tensor<f32>) -> tensor<8xf32>
    %108 = "stablehlo.constant"() <{value = dense<2.048000e+03> : tensor<f32>}> : () -> tensor<f32>
    %109 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %110 = "stablehlo.divide"(%107, %109) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %112 = "stablehlo.broadcast_in_dim"(%111) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<4x32x16x8xf32>
    %113 = "stablehlo.subtract"(%105, %112) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %114 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %115:5 = "func.call"(%105, %114) <{callee = @_var}> : (tensor<4x32x16x8xf32>, tensor<i32>) -> (tensor<8xf32>, tensor<4x32x16x8xf32>, tensor<f32>, tensor<i1>, tensor<8xf32>)
    %116 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %117 = "stablehlo.broadcast_in_dim"(%116) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %118 = "stablehlo.add"(%115#0, %117) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %119 = "stablehlo.rsqrt"(%118) : (tensor<8xf32>) -> tensor<8xf32>
    %120 = "stablehlo.divide"(%119, %118) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %121 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %122 = "stablehlo.broadcast_in_dim"(%121) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %123 = "stablehlo.multiply"(%122, %120) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %124 = "stablehlo.broadcast_in_dim"(%119) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %125 = "stablehlo.broadcast_in_dim"(%124) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<4x32x16x8xf32>
    %126 = "stablehlo.multiply"(%113, %125) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %127 = "func.call"(%126) <{callee = @relu}> : (tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %128 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %129 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x32x16x8xf32>
    %130 = "stablehlo.compare"(%126, %129) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xi1>
    %131 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %132 = "stablehlo.broadcast_in_dim"(%131) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x32x16x8xf32>
    %133 = "stablehlo.convolution"(%127, %arg44) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<4x32x16x8xf32>, tensor<3x3x8x4xf32>) -> tensor<4x32x16x4xf32>
    %134 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %135 = "stablehlo.reduce"(%133, %134) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg64: tensor<f32>, %arg65: tensor<f32>):
      %237 = "stablehlo.add"(%arg64, %arg65) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%237) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x4xf32>, tensor<f32>) -> tensor<4xf32>
    %136 = "stablehlo.constant"() <{value = dense<2.048000e+03> : tensor<f32>}> : () -> tensor<f32>
    %137 = "stablehlo.broadcast_in_dim"(%136) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %138 = "stablehlo.divide"(%135, %137) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %139 = "stablehlo.broadcast_in_dim"(%138) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %140 = "stablehlo.broadcast_in_dim"(%139) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x4xf32>) -> tensor<4x32x16x4xf32>
    %141 = "stablehlo.subtract"(%133, %140) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %142 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %143:5 = "func.call"(%133, %142) <{callee = @_var_0}> : (tensor<4x32x16x4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<4x32x16x4xf32>, tensor<f32>, tensor<i1>, tensor<4xf32>)
    %144 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %145 = "stablehlo.broadcast_in_dim"(%144) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %146 = "stablehlo.add"(%143#0, %145) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %147 = "stablehlo.rsqrt"(%146) : (tensor<4xf32>) -> tensor<4xf32>
    %148 = "stablehlo.divide"(%147, %146) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %149 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %151 = "stablehlo.multiply"(%150, %148) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %152 = "stablehlo.broadcast_in_dim"(%147) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %153 = "stablehlo.broadcast_in_dim"(%152) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x4xf32>) -> tensor<4x32x16x4xf32>
    %154 = "stablehlo.multiply"(%141, %153) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %155 = "stablehlo.add"(%arg45, %154) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %156 = "stablehlo.multiply"(%155, %155) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %157 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %158 = "stablehlo.broadcast_in_dim"(%157) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x32x16x4xf32>
    %159 = "stablehlo.multiply"(%158, %155) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %160 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %161 = "stablehlo.reduce"(%156, %160) <{dimensions = array<i64: 0, 1, 2, 3>}> ({
    ^bb0(%arg62: tensor<f32>, %arg63: tensor<f32>):
      %236 = "stablehlo.add"(%arg62, %arg63) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%236) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x4xf32>, tensor<f32>) -> tensor<f32>
    %162 = "stablehlo.constant"() <{value = dense<8.192000e+03> : tensor<f32>}> : () -> tensor<f32>
    %163 = "stablehlo.divide"(%161, %162) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %164 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %165 = "stablehlo.constant"() <{value = dense<8.192000e+03> : tensor<f32>}> : () -> tensor<f32>
    %166 = "stablehlo.divide"(%164, %165) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %167 = "stablehlo.broadcast_in_dim"(%166) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x32x16x4xf32>
    %168 = "stablehlo.multiply"(%167, %159) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %169 = "stablehlo.multiply"(%141, %168) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %170 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %171 = "stablehlo.reduce"(%169, %170) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg60: tensor<f32>, %arg61: tensor<f32>):
      %235 = "stablehlo.add"(%arg60, %arg61) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%235) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x4xf32>, tensor<f32>) -> tensor<4xf32>
    %172 = "stablehlo.reshape"(%171) : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %173 = "stablehlo.broadcast_in_dim"(%152) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x4xf32>) -> tensor<4x32x16x4xf32>
    %174 = "stablehlo.multiply"(%168, %173) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %175 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %176 = "stablehlo.reduce"(%172, %175) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg58: tensor<f32>, %arg59: tensor<f32>):
      %234 = "stablehlo.add"(%arg58, %arg59) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%234) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %177 = "stablehlo.multiply"(%176, %151) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %178 = "func.call"(%143#1, %143#2, %143#3, %143#4, %177) <{callee = @_var_2}> : (tensor<4x32x16x4xf32>, tensor<f32>, tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x32x16x4xf32>
    %179 = "stablehlo.negate"(%174) : (tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %180 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %181 = "stablehlo.reduce"(%179, %180) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg56: tensor<f32>, %arg57: tensor<f32>):
      %233 = "stablehlo.add"(%arg56, %arg57) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%233) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x4xf32>, tensor<f32>) -> tensor<4xf32>
    %182 = "stablehlo.reshape"(%181) : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %183 = "stablehlo.add"(%178, %174) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %184 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %185 = "stablehlo.reduce"(%182, %184) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg54: tensor<f32>, %arg55: tensor<f32>):
      %232 = "stablehlo.add"(%arg54, %arg55) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%232) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %186 = "stablehlo.constant"() <{value = dense<2.048000e+03> : tensor<f32>}> : () -> tensor<f32>
    %187 = "stablehlo.broadcast_in_dim"(%186) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %188 = "stablehlo.divide"(%185, %187) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %189 = "stablehlo.broadcast_in_dim"(%188) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xf32>) -> tensor<4x32x16x4xf32>
    %190 = "stablehlo.add"(%183, %189) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %191 = "stablehlo.convolution"(%127, %190) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<4x32x16x8xf32>, tensor<4x32x16x4xf32>) -> tensor<3x3x8x4xf32>
    %192 = "stablehlo.reverse"(%arg44) <{dimensions = array<i64: 0, 1>}> : (tensor<3x3x8x4xf32>) -> tensor<3x3x8x4xf32>
    %193 = "stablehlo.convolution"(%190, %192) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<4x32x16x4xf32>, tensor<3x3x8x4xf32>) -> tensor<4x32x16x8xf32>
    %194 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %195 = "stablehlo.broadcast_in_dim"(%194) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x32x16x8xf32>
    %196 = "stablehlo.select"(%130, %193, %195) : (tensor<4x32x16x8xi1>, tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %197 = "stablehlo.multiply"(%113, %196) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %198 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %199 = "stablehlo.reduce"(%197, %198) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg52: tensor<f32>, %arg53: tensor<f32>):
      %231 = "stablehlo.add"(%arg52, %arg53) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%231) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x8xf32>, tensor<f32>) -> tensor<8xf32>
    %200 = "stablehlo.reshape"(%199) : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %201 = "stablehlo.broadcast_in_dim"(%124) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<4x32x16x8xf32>
    %202 = "stablehlo.multiply"(%196, %201) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %203 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %204 = "stablehlo.reduce"(%200, %203) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg50: tensor<f32>, %arg51: tensor<f32>):
      %230 = "stablehlo.add"(%arg50, %arg51) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%230) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %205 = "stablehlo.multiply"(%204, %123) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %206 = "func.call"(%115#1, %115#2, %115#3, %115#4, %205) <{callee = @_var_4}> : (tensor<4x32x16x8xf32>, tensor<f32>, tensor<i1>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x32x16x8xf32>
    %207 = "stablehlo.negate"(%202) : (tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %208 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %209 = "stablehlo.reduce"(%207, %208) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
      %229 = "stablehlo.add"(%arg48, %arg49) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%229) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x8xf32>, tensor<f32>) -> tensor<8xf32>
    %210 = "stablehlo.reshape"(%209) : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %211 = "stablehlo.add"(%206, %202) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %212 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %213 = "stablehlo.reduce"(%210, %212) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg46: tensor<f32>, %arg47: tensor<f32>):
      %228 = "stablehlo.add"(%arg46, %arg47) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%228) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %214 = "stablehlo.constant"() <{value = dense<2.048000e+03> : tensor<f32>}> : () -> tensor<f32>
    %215 = "stablehlo.broadcast_in_dim"(%214) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %216 = "stablehlo.divide"(%213, %215) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %217 = "stablehlo.broadcast_in_dim"(%216) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<4x32x16x8xf32>
    %218 = "stablehlo.add"(%211, %217) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %219 = "stablehlo.convolution"(%arg45, %218) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<4x32x16x4xf32>, tensor<4x32x16x8xf32>) -> tensor<3x3x4x8xf32>
    %220 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %221 = "stablehlo.broadcast_in_dim"(%220) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x4x8xf32>
    %222 = "stablehlo.multiply"(%221, %219) : (tensor<3x3x4x8xf32>, tensor<3x3x4x8xf32>) -> tensor<3x3x4x8xf32>
    %223 = "stablehlo.subtract"(%arg43, %222) : (tensor<3x3x4x8xf32>, tensor<3x3x4x8xf32>) -> tensor<3x3x4x8xf32>
    %224 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %225 = "stablehlo.broadcast_in_dim"(%224) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x8x4xf32>
    %226 = "stablehlo.multiply"(%225, %191) : (tensor<3x3x8x4xf32>, tensor<3x3x8x4xf32>) -> tensor<3x3x8x4xf32>
    %227 = "stablehlo.subtract"(%arg44, %226) : (tensor<3x3x8x4xf32>, tensor<3x3x8x4xf32>) -> tensor<3x3x8x4xf32>
    "func.return"(%223, %227, %163) : (tensor<3x3x4x8xf32>, tensor<3x3x8x4xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x32x16x8xf32>, tensor<i32>) -> (tensor<8xf32>, tensor<4x32x16x8xf32>, tensor<f32>, tensor<i1>, tensor<8xf32>), res_attrs = [{}, {}, {}, {}, {}], sym_name = "_var", sym_visibility = "private"}> ({
  ^bb0(%arg37: tensor<4x32x16x8xf32>, %arg38: tensor<i32>):
    %80 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %81 = "stablehlo.reduce"(%arg37, %80) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg41: tensor<f32>, %arg42: tensor<f32>):
      %104 = "stablehlo.add"(%arg41, %arg42) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%104) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x8xf32>, tensor<f32>) -> tensor<8xf32>
    %82 = "stablehlo.broadcast_in_dim"(%81) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %83 = "stablehlo.constant"() <{value = dense<2.048000e+03> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x8xf32>
    %85 = "stablehlo.divide"(%82, %84) : (tensor<1x1x1x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<4x32x16x8xf32>
    %87 = "stablehlo.subtract"(%arg37, %86) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %88 = "chlo.square"(%87) : (tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %89 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %90 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x32x16x8xf32>
    %91 = "stablehlo.multiply"(%90, %87) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %92 = "stablehlo.convert"(%arg38) : (tensor<i32>) -> tensor<f32>
    %93 = "stablehlo.constant"() <{value = dense<2.048000e+03> : tensor<f32>}> : () -> tensor<f32>
    %94 = "stablehlo.subtract"(%93, %92) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %95 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %96 = "stablehlo.reduce"(%88, %95) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg39: tensor<f32>, %arg40: tensor<f32>):
      %103 = "stablehlo.add"(%arg39, %arg40) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%103) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x8xf32>, tensor<f32>) -> tensor<8xf32>
    %97 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %98 = "stablehlo.divide"(%96, %97) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %99 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %100 = "stablehlo.compare"(%94, %99) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %101 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %102:2 = "func.call"(%100, %98, %101) <{callee = @_where}> : (tensor<i1>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
    "func.return"(%102#0, %91, %94, %100, %102#1) : (tensor<8xf32>, tensor<4x32x16x8xf32>, tensor<f32>, tensor<i1>, tensor<8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>), res_attrs = [{}, {}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg34: tensor<i1>, %arg35: tensor<8xf32>, %arg36: tensor<f32>):
    %75 = "stablehlo.convert"(%arg36) : (tensor<f32>) -> tensor<f32>
    %76 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %77 = "stablehlo.select"(%arg34, %arg35, %76) : (tensor<i1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %78 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %79 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    "func.return"(%77, %79) : (tensor<8xf32>, tensor<8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg33: tensor<4x32x16x8xf32>):
    %72 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %73 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x32x16x8xf32>
    %74 = "stablehlo.maximum"(%arg33, %73) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    "func.return"(%74) : (tensor<4x32x16x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x32x16x4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<4x32x16x4xf32>, tensor<f32>, tensor<i1>, tensor<4xf32>), res_attrs = [{}, {}, {}, {}, {}], sym_name = "_var_0", sym_visibility = "private"}> ({
  ^bb0(%arg27: tensor<4x32x16x4xf32>, %arg28: tensor<i32>):
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.reduce"(%arg27, %47) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg31: tensor<f32>, %arg32: tensor<f32>):
      %71 = "stablehlo.add"(%arg31, %arg32) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%71) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x4xf32>, tensor<f32>) -> tensor<4xf32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %50 = "stablehlo.constant"() <{value = dense<2.048000e+03> : tensor<f32>}> : () -> tensor<f32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x4xf32>
    %52 = "stablehlo.divide"(%49, %51) : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x4xf32>) -> tensor<4x32x16x4xf32>
    %54 = "stablehlo.subtract"(%arg27, %53) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %55 = "chlo.square"(%54) : (tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %56 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x32x16x4xf32>
    %58 = "stablehlo.multiply"(%57, %54) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %59 = "stablehlo.convert"(%arg28) : (tensor<i32>) -> tensor<f32>
    %60 = "stablehlo.constant"() <{value = dense<2.048000e+03> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.subtract"(%60, %59) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %62 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.reduce"(%55, %62) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg29: tensor<f32>, %arg30: tensor<f32>):
      %70 = "stablehlo.add"(%arg29, %arg30) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%70) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x4xf32>, tensor<f32>) -> tensor<4xf32>
    %64 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %65 = "stablehlo.divide"(%63, %64) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %66 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %67 = "stablehlo.compare"(%61, %66) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %68 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %69:2 = "func.call"(%67, %65, %68) <{callee = @_where_1}> : (tensor<i1>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
    "func.return"(%69#0, %58, %61, %67, %69#1) : (tensor<4xf32>, tensor<4x32x16x4xf32>, tensor<f32>, tensor<i1>, tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>), res_attrs = [{}, {}], sym_name = "_where_1", sym_visibility = "private"}> ({
  ^bb0(%arg24: tensor<i1>, %arg25: tensor<4xf32>, %arg26: tensor<f32>):
    %42 = "stablehlo.convert"(%arg26) : (tensor<f32>) -> tensor<f32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %44 = "stablehlo.select"(%arg24, %arg25, %43) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %45 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    "func.return"(%44, %46) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<4x32x16x4xf32>, tensor<f32>, tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x32x16x4xf32>, res_attrs = [{}], sym_name = "_var_2", sym_visibility = "private"}> ({
  ^bb0(%arg15: tensor<4x32x16x4xf32>, %arg16: tensor<f32>, %arg17: tensor<i1>, %arg18: tensor<4xf32>, %arg19: tensor<4xf32>):
    %24 = "func.call"(%arg17, %arg18, %arg19) <{callee = @_where_3}> : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %25 = "stablehlo.broadcast_in_dim"(%arg16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %26 = "stablehlo.divide"(%24, %25) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xf32>) -> tensor<4x32x16x4xf32>
    %28 = "stablehlo.multiply"(%27, %arg15) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %29 = "stablehlo.negate"(%28) : (tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    %30 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %31 = "stablehlo.reduce"(%29, %30) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg22: tensor<f32>, %arg23: tensor<f32>):
      %41 = "stablehlo.add"(%arg22, %arg23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%41) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x4xf32>, tensor<f32>) -> tensor<4xf32>
    %32 = "stablehlo.reshape"(%31) : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %33 = "stablehlo.constant"() <{value = dense<2.048000e+03> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x4xf32>
    %35 = "stablehlo.divide"(%32, %34) : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
    %36 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.reduce"(%35, %36) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
      %40 = "stablehlo.add"(%arg20, %arg21) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%40) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xf32>) -> tensor<4x32x16x4xf32>
    %39 = "stablehlo.add"(%28, %38) : (tensor<4x32x16x4xf32>, tensor<4x32x16x4xf32>) -> tensor<4x32x16x4xf32>
    "func.return"(%39) : (tensor<4x32x16x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, res_attrs = [{}], sym_name = "_where_3", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<i1>, %arg13: tensor<4xf32>, %arg14: tensor<4xf32>):
    %21 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %23 = "stablehlo.select"(%arg12, %arg14, %22) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%23) : (tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<4x32x16x8xf32>, tensor<f32>, tensor<i1>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x32x16x8xf32>, res_attrs = [{}], sym_name = "_var_4", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<4x32x16x8xf32>, %arg4: tensor<f32>, %arg5: tensor<i1>, %arg6: tensor<8xf32>, %arg7: tensor<8xf32>):
    %3 = "func.call"(%arg5, %arg6, %arg7) <{callee = @_where_5}> : (tensor<i1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %4 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %5 = "stablehlo.divide"(%3, %4) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<4x32x16x8xf32>
    %7 = "stablehlo.multiply"(%6, %arg3) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %8 = "stablehlo.negate"(%7) : (tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.reduce"(%8, %9) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %20 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%20) : (tensor<f32>) -> ()
    }) : (tensor<4x32x16x8xf32>, tensor<f32>) -> tensor<8xf32>
    %11 = "stablehlo.reshape"(%10) : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %12 = "stablehlo.constant"() <{value = dense<2.048000e+03> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x1x8xf32>
    %14 = "stablehlo.divide"(%11, %13) : (tensor<1x1x1x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%14, %15) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %19 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%19) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<4x32x16x8xf32>
    %18 = "stablehlo.add"(%7, %17) : (tensor<4x32x16x8xf32>, tensor<4x32x16x8xf32>) -> tensor<4x32x16x8xf32>
    "func.return"(%18) : (tensor<4x32x16x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>, res_attrs = [{}], sym_name = "_where_5", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %2 = "stablehlo.select"(%arg0, %arg2, %1) : (tensor<i1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%2) : (tensor<8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
