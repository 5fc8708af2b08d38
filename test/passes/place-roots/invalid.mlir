// RUN: coll-opt %s --coll-place-roots --verify-diagnostics --split-input-file

// A state that only the root has may not be read elsewhere.
coll.mesh @mesh ["dp" = 2]
func.func @step(%a: tensor<8xf32> {coll.role = "state", coll.sharding = #coll.sharding<@mesh, [[]]>},
                %m: tensor<8xf32> {coll.role = "state", coll.sharding = #coll.sharding<@mesh, [[]]>},
                %g: tensor<8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp"]]>})
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // expected-error@+1 {{state 1 is stored only at the root, but is used elsewhere; forward it}}
  %0:2 = coll.root_update grad(%g : tensor<8xf32>) state(%a, %m : tensor<8xf32>, tensor<8xf32>) forward 1 root hash {
  ^bb0(%ge: f32, %we: f32, %me: f32):
    coll.yield %ge, %me : f32, f32
  }
  // expected-note@+1 {{it is used here}}
  return %0#0, %0#1, %m : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// What is updated is the state argument in the result's place.
coll.mesh @mesh ["dp" = 2]
func.func @step(%a: tensor<8xf32> {coll.role = "state", coll.sharding = #coll.sharding<@mesh, [[]]>},
                %g: tensor<8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp"]]>})
    -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-error@+1 {{state 0 is not a state argument of @step that result 0 updates}}
  %0 = coll.root_update grad(%g : tensor<8xf32>) state(%a : tensor<8xf32>) forward 1 root hash {
  ^bb0(%ge: f32, %we: f32):
    coll.yield %ge : f32
  }
  return %a, %0 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Without ranks there is no root.
func.func @step(%a: tensor<8xf32> {coll.role = "state"}, %g: tensor<8xf32> {coll.role = "batch"}) -> tensor<8xf32> {
  // expected-error@+1 {{has no ranks to choose a root from: no batch argument of @step is split along its first dimension}}
  %0 = coll.root_update grad(%g : tensor<8xf32>) state(%a : tensor<8xf32>) forward 1 root hash {
  ^bb0(%ge: f32, %we: f32):
    coll.yield %ge : f32
  }
  return %0 : tensor<8xf32>
}

// -----

// A parameter that is split already keeps no root.
coll.mesh @mesh ["dp" = 2]
func.func @step(%a: tensor<8xf32> {coll.role = "state", coll.sharding = #coll.sharding<@mesh, [["dp"]]>},
                %g: tensor<8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp"]]>})
    -> tensor<8xf32> {
  // expected-remark@+1 {{keeps no root: its parameter or its state is split already}}
  %0 = coll.root_update grad(%g : tensor<8xf32>) state(%a : tensor<8xf32>) forward 1 root hash {
  ^bb0(%ge: f32, %we: f32):
    coll.yield %ge : f32
  }
  return %0 : tensor<8xf32>
}

// -----

// A scalar has no rows, and keeps no root.
coll.mesh @mesh ["dp" = 2]
func.func @step(%w: tensor<f32> {coll.role = "state", coll.sharding = #coll.sharding<@mesh, []>},
                %g: tensor<f32> {coll.role = "batch"},
                %x: tensor<8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp"]]>})
    -> tensor<f32> {
  // expected-remark@+1 {{keeps no root: a parameter without dimensions or without elements has no rows}}
  %0 = coll.root_update grad(%g : tensor<f32>) state(%w : tensor<f32>) forward 1 root shard {
  ^bb0(%ge: f32, %we: f32):
    %next = arith.subf %we, %ge : f32
    coll.yield %next : f32
  }
  return %0 : tensor<f32>
}

// -----

// Nor has a parameter without elements.
coll.mesh @mesh ["dp" = 2]
func.func @step(%w: tensor<0x8xf32> {coll.role = "state", coll.sharding = #coll.sharding<@mesh, [[], []]>},
                %g: tensor<0x8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp"], []]>})
    -> tensor<0x8xf32> {
  // expected-remark@+1 {{keeps no root: a parameter without dimensions or without elements has no rows}}
  %0 = coll.root_update grad(%g : tensor<0x8xf32>) state(%w : tensor<0x8xf32>) forward 1 root hash {
  ^bb0(%ge: f32, %we: f32):
    %next = arith.subf %we, %ge : f32
    coll.yield %next : f32
  }
  return %0 : tensor<0x8xf32>
}

// -----

// A gradient that repeats a scalar is a gradient for its norm, too, and not a factor.
coll.mesh @mesh ["dp" = 2]
func.func @step(%w: tensor<8xf32> {coll.role = "state", coll.name = "w", coll.sharding = #coll.sharding<@mesh, [[]]>},
                %x: tensor<8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["dp"]]>})
    -> (tensor<8xf32>, tensor<f32>) {
  %one = arith.constant dense<1.0> : tensor<f32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%one : tensor<f32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8xf32>
  %norm = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%g : tensor<8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  // expected-remark@+1 {{root=hash: 1 parameters with 8 elements}}
  %0 = coll.root_update grad(%g : tensor<8xf32>) state(%w : tensor<8xf32>) forward 1 root hash {
  ^bb0(%ge: f32, %we: f32):
    %next = arith.subf %we, %ge : f32
    coll.yield %next : f32
  }
  return %0, %norm : tensor<8xf32>, tensor<f32>
}
