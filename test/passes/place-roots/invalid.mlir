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
