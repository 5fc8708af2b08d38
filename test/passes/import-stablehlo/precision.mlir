// RUN: coll-opt %s --allow-unregistered-dialect --coll-import=state-args=1 | FileCheck %s
// RUN: coll-opt %s --allow-unregistered-dialect --coll-import=state-args=1 --coll-data-parallel=ranks=2 --coll-rank-programs --coll-executable="gpu=sm_90 precision=tf32" -o /dev/null
// RUN: coll-opt %s --allow-unregistered-dialect --coll-import=state-args=1 --coll-data-parallel=ranks=2 --coll-rank-programs --coll-lower-indexed --coll-lower-contractions --coll-fuse-kernels --coll-outline-kernels --coll-to-exec="gpu=sm_90 precision=bf16" | FileCheck %s --check-prefix=EXEC

// What a product asks for stays with it to the call of the library, in rank programs, too. The
// options decide only as far as it allows; a product that asks for nothing leaves it to them.

// CHECK-LABEL: func.func @step
// CHECK: linalg.generic {{.*}} attrs = {coll.precision = "highest"}
// CHECK: linalg.generic {{.*}} attrs = {coll.precision = "high"}
// CHECK: linalg.generic
// CHECK-NOT: attrs
// CHECK: return
// EXEC: exec.function @step
// EXEC: exec.gemm {{.*}} of f32 mnk [8, 16, 16]
// EXEC: exec.gemm {{.*}} of f32 precision "tf32" mnk [8, 16, 16]
// EXEC: exec.gemm {{.*}} of f32 precision "bf16" mnk [8, 16, 16]
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>), sym_name = "main"}> ({
  ^bb0(%w: tensor<16x16xf32>, %x: tensor<16x16xf32>):
    %a = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %b = "stablehlo.dot_general"(%a, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %c = "stablehlo.dot_general"(%b, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    "func.return"(%w, %c) : (tensor<16x16xf32>, tensor<16x16xf32>) -> ()
  }) : () -> ()
}) : () -> ()
