// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --coll-import-stablehlo=state-args=0

// Shardings that mean nothing are errors at the value that has them.

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{this sharding has 1 dimensions, its tensor has 2}}
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{names 'x':(1)3, which is not a part of its axis}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)3}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{uses 'x':(2)2 twice, or parts of it that overlap}}
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x":(2)2}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{uses 'x' twice}}
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>}) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{this sharding is on mesh @other, which the module does not have}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4, "z"=1]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{this sharding names axis 'y', but the axes of its mesh are 'x', 'z'}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{is not of the form sharding<@mesh, }}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, {"x"}>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{is not of the form {devices=[2,1]<=[2]}}}
func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]T(0}"}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{splits 2 dimensions, its tensor has 1}}
func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{shard_map is not supported}}
func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{manual}"}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// Meshes whose axes cut the devices in ways that no third mesh has.
"sdy.mesh"() <{mesh = #sdy.mesh<["a"=3, "b"=2]>, sym_name = "m"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<["c"=2, "d"=3]>, sym_name = "n"}> : () -> ()
// expected-error @below {{cannot stand on one mesh: they cut the 6 devices into blocks of which none divides the other; use one mesh}}
func.func @main(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>},
                %y: tensor<6xf32> {sdy.sharding = #sdy.sharding<@n, [{"c"}]>}) -> tensor<6xf32> {
  return %x : tensor<6xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["a"=4]>, sym_name = "m"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<["c"=8]>, sym_name = "n"}> : () -> ()
// expected-error @below {{one of them is over 4 devices, another over 8; shard all values over one mesh}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>},
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@n, [{"c"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["a"=4], device_ids=[0, 1, 3, 2]>, sym_name = "m"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<["c"=4]>, sym_name = "n"}> : () -> ()
// expected-error @below {{their meshes order the devices in different ways; make all meshes from one list of devices}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>},
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@n, [{"c"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// Meshes without a name are told apart by the order of their devices, too.
// expected-error @below {{their meshes order the devices in different ways; make all meshes from one list of devices}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=4], device_ids=[0, 1, 3, 2]>, [{"a"}]>},
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=4]>, [{"a"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// What JAX's shard_map becomes, by either partitioner.
"sdy.mesh"() <{mesh = #sdy.mesh<["a"=2]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{cannot import 1 kind of operation or type}}
  // expected-note @below {{sdy.manual_computation, 1 time: shard_map is not supported: the step must be written for one device; coll inserts the collectives, and jax.lax.with_sharding_constraint says how values are split}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>, manual_axes = #sdy<manual_axes{"a"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}> ({
  ^bb0(%v: tensor<4xf32>):
    "sdy.return"(%v) : (tensor<4xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @below {{cannot import 1 kind of operation or type}}
  // expected-note @below {{stablehlo.custom_call @SPMDFullToShardShape, 1 time: shard_map is not supported}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "SPMDFullToShardShape"}> {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

"sdy.mesh"() <{mesh = #sdy.mesh<["x"=8]>, sym_name = "mesh"}> : () -> ()
// expected-error @below {{uses 'x':(1)2 twice, or parts of it that overlap}}
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], replicated={"x":(1)2}>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// What is wrong with a mesh is an error at the mesh.
// expected-error @below {{mesh @mesh gives axis 'x' a size that is not between 1 and 16777216}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=0]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh gives axis 'x' a size that is not between 1 and 16777216}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=-1]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh gives axis 'x' a size that is not between 1 and 16777216}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=99999999999999999999]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh has more than 16777216 devices}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=16777216, "y"=16777216]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh has two axes 'x'; give each axis a name of its own}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "x"=4]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh has device_ids of length 0, but the sizes of its axes multiply to 2; list each device once, or leave device_ids out}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2], device_ids=[]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh has device_ids of length 2, but the sizes of its axes multiply to 4}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=4], device_ids=[0, 1]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh has device 0 twice in device_ids; list each device once}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2], device_ids=[0, 0]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh has a number in device_ids that is not between 0 and 1; list each device once}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2], device_ids=[-1, 0]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh has a number in device_ids that is not between 0 and 1}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2], device_ids=[0, 5]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh is not of the form #sdy.mesh<["x"=2, "y"=4]>}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"]>, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{mesh @mesh is not of the form #sdy.mesh<["x"=2, "y"=4]>}}
"sdy.mesh"() <{mesh = 3 : i32, sym_name = "mesh"}> : () -> ()
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{the mesh of this sharding has two axes 'x'}}
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "x"=4]>, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// Attributes that are no sharding.
// expected-error @below {{this sharding is 3 : i32, but has to be of the form #sdy.sharding<@mesh, [{"axis"}, {}]>}}
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = 3 : i32}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{this sharding is 3 : i32, but has to be a string like "{devices=[2,1]<=[2]}"}}
func.func @main(%x: tensor<8x4xf32> {mhlo.sharding = 3 : i32}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error @below {{this sharding is 3 : i32, but has to be of the form #sdy.sharding<@mesh, [{"axis"}, {}]>}}
  %0 = "sdy.sharding_constraint"(%x) <{sharding = 3 : i32}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
