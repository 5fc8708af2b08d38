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

// XLA's older text lists the devices.
// CHECK: coll.mesh @devices ["d0" = 2, "d1" = 2]
// CHECK: func.func @step(%{{.*}}: tensor<8x4xf32> {coll.name = "arg0", coll.role = "state", coll.sharding = #coll.sharding<@devices, {{\[\[}}"d1"], ["d0"]]>}
// CHECK-SAME: tensor<8xf32> {coll.name = "arg1", coll.role = "batch", coll.sharding = #coll.sharding<@devices, {{\[\[}}"d0"]]>}
func.func @main(%w: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,2]0,2,1,3}"},
                %x: tensor<8xf32> {mhlo.sharding = "{devices=[2,2]0,1,2,3 last_tile_dims={replicated} metadata={op_name=\"x\"}}"})
    -> (tensor<8x4xf32>, tensor<8xf32>) {
  return %w, %x : tensor<8x4xf32>, tensor<8xf32>
}

// -----

// Parts of an axis are axes of their own.
// CHECK: coll.mesh @mesh ["one" = 1, "x:(1)2" = 2, "x:(2)2" = 2, "x:(4)2" = 2]
// CHECK: func.func @step(%{{.*}}: tensor<8x4xf32> {coll.name = "arg0", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[}}"x:(2)2"], ["x:(1)2"]]>}
// CHECK-SAME: coll.sharding = #coll.sharding<@mesh, {{\[\[}}"x:(1)2", "x:(2)2", "x:(4)2"]]>}
"sdy.mesh"() <{mesh = #sdy.mesh<["one"=1, "x"=8]>, sym_name = "mesh"}> : () -> ()
func.func @main(%w: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2}, {"x":(1)2, "one"}]>},
                %x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8x4xf32>, tensor<16xf32>) {
  return %w, %x : tensor<8x4xf32>, tensor<16xf32>
}

// -----

// Several meshes over the same devices: one whose axes express all of them. Devices in another order than
// their numbers' are counted as they are listed.
// CHECK: coll.mesh @flat ["a" = 2, "b" = 4]
// CHECK: coll.sharding = #coll.sharding<@flat, {{\[\[}}"a", "b"], []]>}
// CHECK: math.tanh {{.*}} {coll.shardings = [#coll.sharding<@flat, {{\[\[}}"b"], ["a"]]>]}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=8], device_ids=[0, 1, 3, 2, 6, 7, 5, 4]>, sym_name = "flat"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<["a"=2, "b"=4], device_ids=[0, 1, 3, 2, 6, 7, 5, 4]>, sym_name = "grid"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<[], device_ids=[0]>, sym_name = "single"}> : () -> ()
func.func @main(%w: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@flat, [{"x"}, {}]>},
                %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@single, [{}, {}]>}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = "stablehlo.tanh"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = "sdy.sharding_constraint"(%0) <{sharding = #sdy.sharding<@grid, [{"b"}, {"a"}]>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Dimensions that are left open, constraints on arguments, second constraints of one value, and constraints
// that stand on any operation.
// CHECK: coll.mesh @mesh ["x" = 2, "y" = 2, "z" = 2]
// CHECK: func.func @step(%[[W:[a-z0-9]+]]: tensor<8x4xf32> {coll.name = "arg0"
// CHECK: %[[WHOLE:.*]] = coll.reshard %[[W]] from <@mesh, {{\[\[}}], []]> to <@mesh, {{\[\[}}], []]> {coll.pin = {open_dims = array<i64>, replicated = []}}
// CHECK: %[[TANH:.*]] = math.tanh %[[WHOLE]] {coll.shardings = [#coll.sharding<@mesh, {{\[\[}}"x"], []]>]}
// CHECK: %[[OPEN:.*]] = coll.reshard %[[TANH]] from <@mesh, {{\[\[}}], ["y"]]> to <@mesh, {{\[\[}}], ["y"]]> {coll.pin = {open_dims = array<i64: 0>, replicated = ["z"]}}
// CHECK: %[[EXP:.*]] = math.exp %[[OPEN]] {coll.shardings = [#coll.sharding<@mesh, {{\[\[}}"z"], []]>]}
// CHECK: %[[RESULT:.*]] = coll.reshard %[[EXP]] from <@mesh, {{\[\[}}], ["x"]]> to <@mesh, {{\[\[}}], ["x"]]> {coll.pin = {open_dims = array<i64: 0>, replicated = []}}
// CHECK: return %[[W]], %[[RESULT]]
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2, "z"=2]>, sym_name = "mesh"}> : () -> ()
func.func @main(%w: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x4xf32>, tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) {
  %0 = "sdy.sharding_constraint"(%w) <{sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = "stablehlo.tanh"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = "sdy.reshard"(%1) <{sharding = #sdy.sharding<@mesh, [{"x"}p2, {}]>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = "sdy.sharding_constraint"(%2) <{sharding = #sdy.sharding<@mesh, [{?}, {"y"}], replicated={"z"}>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = "sdy.propagation_barrier"(%3) <{allowed_direction = 0 : i32}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %5 = "sdy.sharding_constraint"(%4) <{sharding = #sdy.sharding<@mesh, [{?}, {?}]>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %6 = "stablehlo.exponential"(%5) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %7 = "sdy.sharding_constraint"(%6) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w, %7 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// XLA's text for the same: some dimensions are not specified. Values that are to be sharded alike are each sharded
// in the cheapest way.
// CHECK: coll.reshard {{.*}} {coll.pin = {open_dims = array<i64: 0>, replicated = []}}
func.func @main(%w: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}, %x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = "stablehlo.custom_call"(%w) <{backend_config = "unspecified_dims=[0]", call_target_name = "Sharding"}> {mhlo.sharding = "{devices=[1,2]<=[2]}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = "stablehlo.custom_call"(%x) <{call_target_name = "Sharding"}> {mhlo.sharding = "{unknown shard_as 1}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark @below {{a group of values that are sharded alike is left out}}
  "sdy.sharding_group"(%0) <{group_id = 0 : i64}> : (tensor<8x4xf32>) -> ()
  %2 = "stablehlo.add"(%0, %1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// A part of an axis that splits nothing is an axis of the mesh, too.
// CHECK: coll.mesh @mesh ["x:(1)2" = 2, "x:(2)4" = 4]
// CHECK: coll.reshard {{.*}} {coll.pin = {open_dims = array<i64: 0, 1>, replicated = ["x:(1)2"]}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=8]>, sym_name = "mesh"}> : () -> ()
func.func @main(%w: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "sdy.sharding_constraint"(%w) <{sharding = #sdy.sharding<@mesh, [{?}, {?}], replicated={"x":(1)2}>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Meshes with the name of a step's function.
// CHECK: coll.mesh @devices ["x" = 2]
// CHECK: func.func @step({{.*}} coll.sharding = #coll.sharding<@devices, {{\[\[}}"x"], []]>
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "step"}> : () -> ()
func.func @main(%w: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@step, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %w : tensor<8x4xf32>
}

// -----

// CHECK: coll.mesh @devices ["x" = 2]
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "init"}> : () -> ()
func.func @main(%w: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@init, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %w : tensor<8x4xf32>
}

// -----

// A tensor on one device is one that nothing is said of.
// CHECK-NOT: coll.mesh
// CHECK: func.func @step(%{{.*}}: tensor<8x4xf32> {coll.name = "arg0", coll.role = "state"}, %{{.*}}: tensor<8x4xf32> {coll.name = "arg1", coll.role = "batch"})
"sdy.mesh"() <{mesh = #sdy.mesh<[], device_ids=[0]>, sym_name = "maximal_mesh_0"}> : () -> ()
func.func @main(%w: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_0, []>},
                %x: tensor<8x4xf32> {mhlo.sharding = "{maximal device=0}"}) -> tensor<8x4xf32> {
  return %w : tensor<8x4xf32>
}

// -----

// A value that others read, too, is not what the constraint says: two of them differ.
// CHECK: coll.mesh @mesh ["x" = 2]
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : tensor<8x4xf32>
// CHECK: %[[ROWS:.*]] = coll.reshard %[[SUM]] from <@mesh, {{\[\["x"\], \[\]\]}}> to <@mesh, {{\[\["x"\], \[\]\]}}>
// CHECK: %[[COLUMNS:.*]] = coll.reshard %[[SUM]] from <@mesh, {{\[\[\], \["x"\]\]}}> to <@mesh, {{\[\[\], \["x"\]\]}}>
// CHECK: return %[[ROWS]], %[[COLUMNS]]
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
func.func @main(%a: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = "stablehlo.add"(%a, %a) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = "sdy.sharding_constraint"(%0) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = "sdy.sharding_constraint"(%0) <{sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}
