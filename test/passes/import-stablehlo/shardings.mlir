// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --coll-import-stablehlo=state-args=1 | FileCheck %s

// Shardy: the mesh and the arguments; new state is sharded as the old, the rest is whole.
// CHECK: coll.mesh @mesh ["data" = 2, "model" = 4]
// CHECK: func.func @step(%{{.*}}: tensor<8x4xf32> {coll.name = "arg0", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[}}"model"], []]>
// CHECK-SAME: tensor<6x8xf32> {coll.name = "arg1", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\[}}"data"], []]>
// CHECK-SAME: tensor<3xf32> {coll.name = "arg2", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\[}}]]>
// CHECK-SAME: -> (tensor<8x4xf32> {coll.sharding = #coll.sharding<@mesh, {{\[\[}}"model"], []]>
"sdy.mesh"() <{mesh = #sdy.mesh<["data"=2, "model"=4]>, sym_name = "mesh"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<[]>, sym_name = "empty_mesh"}> : () -> ()
func.func @main(%w: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
                %x: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}, {?}p1], replicated={"model"}>},
                %y: tensor<3xf32>) -> (tensor<8x4xf32>, tensor<6x8xf32>) {
  %0 = "stablehlo.tanh"(%x) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %1 = "sdy.sharding_constraint"(%0) <{sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}> : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %w, %1 : tensor<8x4xf32>, tensor<6x8xf32>
}

// -----

// XLA's text: the axes of all shardings are found.
// CHECK: coll.mesh @devices ["d0" = 2, "d1" = 2, "d2" = 2]
// CHECK: func.func @step(%{{.*}}: tensor<8x4xf32> {coll.name = "arg0", coll.role = "state", coll.sharding = #coll.sharding<@devices, {{\[\[}}"d1", "d2"], []]>
// CHECK-SAME: tensor<6x8xf32> {coll.name = "arg1", coll.role = "batch", coll.sharding = #coll.sharding<@devices, {{\[\[}}"d0", "d1"], ["d2"]]>
// CHECK-SAME: tensor<3xf32> {coll.name = "arg2", coll.role = "batch", coll.sharding = #coll.sharding<@devices, {{\[\[}}]]>
// CHECK: math.tanh {{.*}} {coll.shardings = [#coll.sharding<@devices, {{\[\[}}"d0"], []]>]}
func.func @main(%w: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"},
                %x: tensor<6x8xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}"},
                %y: tensor<3xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<8x4xf32>, tensor<6x8xf32>) {
  %0 = "stablehlo.tanh"(%x) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %1 = "stablehlo.custom_call"(%0) <{call_target_name = "Sharding"}> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dims={replicated}}"} : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %w, %1 : tensor<8x4xf32>, tensor<6x8xf32>
}

// -----

// What cannot be expressed is left out, and said.
// CHECK-NOT: coll.sharding
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
// expected-remark @below {{sharding annotation is ignored: it has 1 dimensions for rank 2}}
func.func @main(%w: tensor<8x4xf32> loc("w"),
                // expected-remark @below {{a part of axis 'x' cannot be a sharding of its own}}
                %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>},
                // expected-remark @below {{no mesh @other is known}}
                %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>},
                // expected-remark @below {{axis 'y' is unknown or used twice}}
                %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>},
                // expected-remark @below {{it is not of the form <@mesh, […]>}}
                %d: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, {"x"}>},
                // expected-remark @below {{'{devices=[2,2]0,1,2,3}' is no grid of the 0 devices}}
                %e: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,2]0,1,2,3}"},
                // expected-remark @below {{'{maximal device=0}' is no grid of the 0 devices}}
                %f: tensor<8x4xf32> {mhlo.sharding = "{maximal device=0}"})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %w : tensor<8x4xf32>
}
