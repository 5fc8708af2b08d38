// RUN: coll-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(coll-import{state-args=0},coll-propagate)' | FileCheck %s --check-prefix=SPLIT
// RUN: coll-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(coll-import{state-args=0},coll-propagate,coll-insert-reshards,coll-partition,canonicalize,cse)' | FileCheck %s

// The gradient of a pooling by maximum adds to positions that lie in the updates' windows. It is split
// as the image is, and where windows do not overlap, nothing is sent.
// SPLIT-LABEL: @step
// SPLIT: coll.accumulate
// SPLIT: } {coll.shardings = [#coll.sharding<@mesh, {{\[\["sp"\]\]}}>]}
// CHECK-LABEL: @step
// CHECK-NOT: coll.permute
// CHECK-NOT: coll.all_
// CHECK: coll.accumulate
// CHECK-NOT: coll.permute
// CHECK-NOT: coll.all_
// CHECK: return
"builtin.module"() ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["sp"=4]>, sym_name = "mesh"}> : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"sp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"sp"}]>}], function_type = (tensor<16xf32>, tensor<8xf32>) -> tensor<16xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<16xf32>, %y: tensor<8xf32>):
    %c = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %0 = "stablehlo.select_and_scatter"(%x, %y, %c) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%1) : (tensor<i1>) -> ()
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%1) : (tensor<f32>) -> ()
    }) : (tensor<16xf32>, tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
    "func.return"(%0) : (tensor<16xf32>) -> ()
  }) : () -> ()
}) : () -> ()
