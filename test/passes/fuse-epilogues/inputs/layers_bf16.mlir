// The gradient of a loss over three layers, exported by JAX: h = gelu(x @ w + b), h = relu(h @ v + c), o = h @ u + d.

"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], function_type = (tensor<8x32xf32>, tensor<32xf32>, tensor<32x48xf32>, tensor<48xf32>, tensor<48x16xf32>, tensor<16xf32>, tensor<4x16x8xf32>, tensor<4x16x16xf32>) -> (tensor<8x32xf32>, tensor<32xf32>, tensor<32x48xf32>, tensor<48xf32>, tensor<48x16xf32>, tensor<16xf32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<8x32xf32>, %arg2: tensor<32xf32>, %arg3: tensor<32x48xf32>, %arg4: tensor<48xf32>, %arg5: tensor<48x16xf32>, %arg6: tensor<16xf32>, %arg7: tensor<4x16x8xf32>, %arg8: tensor<4x16x16xf32>):
    %3 = "stablehlo.convert"(%arg1) : (tensor<8x32xf32>) -> tensor<8x32xbf16>
    %4 = "stablehlo.convert"(%arg2) : (tensor<32xf32>) -> tensor<32xbf16>
    %5 = "stablehlo.convert"(%arg3) : (tensor<32x48xf32>) -> tensor<32x48xbf16>
    %6 = "stablehlo.convert"(%arg4) : (tensor<48xf32>) -> tensor<48xbf16>
    %7 = "stablehlo.convert"(%arg5) : (tensor<48x16xf32>) -> tensor<48x16xbf16>
    %8 = "stablehlo.convert"(%arg6) : (tensor<16xf32>) -> tensor<16xbf16>
    %9 = "stablehlo.convert"(%arg7) : (tensor<4x16x8xf32>) -> tensor<4x16x8xbf16>
    %10 = "stablehlo.dot_general"(%9, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16x8xbf16>, tensor<8x32xbf16>) -> tensor<4x16x32xbf16>
    %11 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xbf16>) -> tensor<1x1x32xbf16>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xbf16>) -> tensor<4x16x32xbf16>
    %13 = "stablehlo.add"(%10, %12) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %14 = "stablehlo.multiply"(%13, %13) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %15 = "stablehlo.multiply"(%14, %13) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %16 = "stablehlo.multiply"(%13, %13) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %17 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x32xbf16>
    %19 = "stablehlo.multiply"(%18, %16) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %20 = "stablehlo.constant"() <{value = dense<4.467770e-02> : tensor<bf16>}> : () -> tensor<bf16>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x32xbf16>
    %22 = "stablehlo.multiply"(%21, %15) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %23 = "stablehlo.add"(%13, %22) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %24 = "stablehlo.constant"() <{value = dense<7.968750e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x32xbf16>
    %26 = "stablehlo.multiply"(%25, %23) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %27 = "stablehlo.tanh"(%26) : (tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %28 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x32xbf16>
    %30 = "stablehlo.subtract"(%29, %27) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %31 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x32xbf16>
    %33 = "stablehlo.add"(%32, %27) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %34 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x32xbf16>
    %36 = "stablehlo.multiply"(%35, %33) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %37 = "stablehlo.multiply"(%13, %36) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %38 = "stablehlo.dot_general"(%37, %5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16x32xbf16>, tensor<32x48xbf16>) -> tensor<4x16x48xbf16>
    %39 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 2>}> : (tensor<48xbf16>) -> tensor<1x1x48xbf16>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x48xbf16>) -> tensor<4x16x48xbf16>
    %41 = "stablehlo.add"(%38, %40) : (tensor<4x16x48xbf16>, tensor<4x16x48xbf16>) -> tensor<4x16x48xbf16>
    %42 = "func.call"(%41) <{callee = @relu}> : (tensor<4x16x48xbf16>) -> tensor<4x16x48xbf16>
    %43 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x48xbf16>
    %45 = "stablehlo.compare"(%41, %44) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x16x48xbf16>, tensor<4x16x48xbf16>) -> tensor<4x16x48xi1>
    %46 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x48xbf16>
    %48 = "stablehlo.dot_general"(%42, %7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16x48xbf16>, tensor<48x16xbf16>) -> tensor<4x16x16xbf16>
    %49 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 2>}> : (tensor<16xbf16>) -> tensor<1x1x16xbf16>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x16xbf16>) -> tensor<4x16x16xbf16>
    %51 = "stablehlo.add"(%48, %50) : (tensor<4x16x16xbf16>, tensor<4x16x16xbf16>) -> tensor<4x16x16xbf16>
    %52 = "stablehlo.convert"(%51) : (tensor<4x16x16xbf16>) -> tensor<4x16x16xf32>
    %53 = "stablehlo.subtract"(%52, %arg8) : (tensor<4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
    %54 = "stablehlo.multiply"(%53, %53) : (tensor<4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
    %55 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %56 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16x16xf32>
    %57 = "stablehlo.multiply"(%56, %53) : (tensor<4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
    %58 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %59 = "stablehlo.reduce"(%54, %58) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg21: tensor<f32>, %arg22: tensor<f32>):
      %123 = "stablehlo.add"(%arg21, %arg22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%123) : (tensor<f32>) -> ()
    }) : (tensor<4x16x16xf32>, tensor<f32>) -> tensor<f32>
    %60 = "stablehlo.constant"() <{value = dense<1.024000e+03> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.divide"(%59, %60) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %62 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.constant"() <{value = dense<1.024000e+03> : tensor<f32>}> : () -> tensor<f32>
    %64 = "stablehlo.divide"(%62, %63) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16x16xf32>
    %66 = "stablehlo.multiply"(%65, %57) : (tensor<4x16x16xf32>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
    %67 = "stablehlo.convert"(%66) : (tensor<4x16x16xf32>) -> tensor<4x16x16xbf16>
    %68 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %69 = "stablehlo.reduce"(%67, %68) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg19: tensor<bf16>, %arg20: tensor<bf16>):
      %122 = "stablehlo.add"(%arg19, %arg20) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%122) : (tensor<bf16>) -> ()
    }) : (tensor<4x16x16xbf16>, tensor<bf16>) -> tensor<16xbf16>
    %70 = "stablehlo.reshape"(%69) : (tensor<16xbf16>) -> tensor<1x1x16xbf16>
    %71 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %72 = "stablehlo.reduce"(%70, %71) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg17: tensor<bf16>, %arg18: tensor<bf16>):
      %121 = "stablehlo.add"(%arg17, %arg18) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%121) : (tensor<bf16>) -> ()
    }) : (tensor<1x1x16xbf16>, tensor<bf16>) -> tensor<16xbf16>
    %73 = "stablehlo.dot_general"(%67, %42) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16x16xbf16>, tensor<4x16x48xbf16>) -> tensor<16x48xbf16>
    %74 = "stablehlo.transpose"(%73) <{permutation = array<i64: 1, 0>}> : (tensor<16x48xbf16>) -> tensor<48x16xbf16>
    %75 = "stablehlo.dot_general"(%67, %7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16x16xbf16>, tensor<48x16xbf16>) -> tensor<4x16x48xbf16>
    %76 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x48xbf16>
    %78 = "stablehlo.select"(%45, %75, %77) : (tensor<4x16x48xi1>, tensor<4x16x48xbf16>, tensor<4x16x48xbf16>) -> tensor<4x16x48xbf16>
    %79 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %80 = "stablehlo.reduce"(%78, %79) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg15: tensor<bf16>, %arg16: tensor<bf16>):
      %120 = "stablehlo.add"(%arg15, %arg16) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%120) : (tensor<bf16>) -> ()
    }) : (tensor<4x16x48xbf16>, tensor<bf16>) -> tensor<48xbf16>
    %81 = "stablehlo.reshape"(%80) : (tensor<48xbf16>) -> tensor<1x1x48xbf16>
    %82 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %83 = "stablehlo.reduce"(%81, %82) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg13: tensor<bf16>, %arg14: tensor<bf16>):
      %119 = "stablehlo.add"(%arg13, %arg14) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%119) : (tensor<bf16>) -> ()
    }) : (tensor<1x1x48xbf16>, tensor<bf16>) -> tensor<48xbf16>
    %84 = "stablehlo.dot_general"(%78, %37) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16x48xbf16>, tensor<4x16x32xbf16>) -> tensor<48x32xbf16>
    %85 = "stablehlo.transpose"(%84) <{permutation = array<i64: 1, 0>}> : (tensor<48x32xbf16>) -> tensor<32x48xbf16>
    %86 = "stablehlo.dot_general"(%78, %5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16x48xbf16>, tensor<32x48xbf16>) -> tensor<4x16x32xbf16>
    %87 = "stablehlo.multiply"(%13, %86) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %88 = "stablehlo.multiply"(%86, %36) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %89 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %90 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x32xbf16>
    %91 = "stablehlo.multiply"(%90, %87) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %92 = "stablehlo.multiply"(%91, %30) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %93 = "stablehlo.multiply"(%92, %27) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %94 = "stablehlo.add"(%92, %93) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %95 = "stablehlo.constant"() <{value = dense<7.968750e-01> : tensor<bf16>}> : () -> tensor<bf16>
    %96 = "stablehlo.broadcast_in_dim"(%95) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x32xbf16>
    %97 = "stablehlo.multiply"(%96, %94) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %98 = "stablehlo.add"(%88, %97) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %99 = "stablehlo.constant"() <{value = dense<4.467770e-02> : tensor<bf16>}> : () -> tensor<bf16>
    %100 = "stablehlo.broadcast_in_dim"(%99) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x32xbf16>
    %101 = "stablehlo.multiply"(%100, %97) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %102 = "stablehlo.multiply"(%101, %19) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %103 = "stablehlo.add"(%98, %102) : (tensor<4x16x32xbf16>, tensor<4x16x32xbf16>) -> tensor<4x16x32xbf16>
    %104 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %105 = "stablehlo.reduce"(%103, %104) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg11: tensor<bf16>, %arg12: tensor<bf16>):
      %118 = "stablehlo.add"(%arg11, %arg12) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%118) : (tensor<bf16>) -> ()
    }) : (tensor<4x16x32xbf16>, tensor<bf16>) -> tensor<32xbf16>
    %106 = "stablehlo.reshape"(%105) : (tensor<32xbf16>) -> tensor<1x1x32xbf16>
    %107 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %108 = "stablehlo.reduce"(%106, %107) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg9: tensor<bf16>, %arg10: tensor<bf16>):
      %117 = "stablehlo.add"(%arg9, %arg10) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%117) : (tensor<bf16>) -> ()
    }) : (tensor<1x1x32xbf16>, tensor<bf16>) -> tensor<32xbf16>
    %109 = "stablehlo.dot_general"(%103, %9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16x32xbf16>, tensor<4x16x8xbf16>) -> tensor<32x8xbf16>
    %110 = "stablehlo.transpose"(%109) <{permutation = array<i64: 1, 0>}> : (tensor<32x8xbf16>) -> tensor<8x32xbf16>
    %111 = "stablehlo.convert"(%72) : (tensor<16xbf16>) -> tensor<16xf32>
    %112 = "stablehlo.convert"(%74) : (tensor<48x16xbf16>) -> tensor<48x16xf32>
    %113 = "stablehlo.convert"(%83) : (tensor<48xbf16>) -> tensor<48xf32>
    %114 = "stablehlo.convert"(%85) : (tensor<32x48xbf16>) -> tensor<32x48xf32>
    %115 = "stablehlo.convert"(%108) : (tensor<32xbf16>) -> tensor<32xf32>
    %116 = "stablehlo.convert"(%110) : (tensor<8x32xbf16>) -> tensor<8x32xf32>
    "func.return"(%116, %115, %114, %113, %112, %111, %61) : (tensor<8x32xf32>, tensor<32xf32>, tensor<32x48xf32>, tensor<48xf32>, tensor<48x16xf32>, tensor<16xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x16x48xbf16>) -> tensor<4x16x48xbf16>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x16x48xbf16>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4x16x48xbf16>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<4x16x48xbf16>, tensor<4x16x48xbf16>) -> tensor<4x16x48xbf16>
    "func.return"(%2) : (tensor<4x16x48xbf16>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
