// RUN: coll-opt %s --verify-diagnostics --split-input-file

// role
// expected-error@+1 {{argument 0: coll.role must be "state" or "batch", but is "weights"}}
func.func @role(%x: tensor<4xf32> {coll.role = "weights"}) { return }

// -----

// name
// expected-error@+1 {{argument 0: coll.name must be a string, but is 3}}
func.func @name(%x: tensor<4xf32> {coll.name = 3 : i32}) { return }

// -----

// sharding: kind of attribute
// expected-error@+1 {{argument 0: expected a #coll.sharding, but found "dp"}}
func.func @sharding(%x: tensor<4xf32> {coll.sharding = "dp"}) { return }

// -----

// sharding: rank
coll.mesh @m ["dp" = 4, "tp" = 2]
// expected-error@+1 {{argument 0: sharding has 1 dimensions, but its value is 'tensor<8x4xf32>'}}
func.func @sharding(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) { return }

// -----

// sharding: mesh
// expected-error@+1 {{argument 0: there is no mesh @absent}}
func.func @sharding(%x: tensor<4xf32> {coll.sharding = #coll.sharding<@absent, [["dp"]]>}) { return }

// -----

// sharding: axis
// expected-note@+1 {{the mesh is here}}
coll.mesh @m ["dp" = 4, "tp" = 2]
// expected-error@+1 {{argument 0: mesh @m has no axis "pp"}}
func.func @sharding(%x: tensor<4xf32> {coll.sharding = #coll.sharding<@m, [["pp"]]>}) { return }

// -----

// sharding: result
// expected-note@+1 {{the mesh is here}}
coll.mesh @m ["dp" = 4, "tp" = 2]
// expected-error@+1 {{result 0: mesh @m has no axis "pp"}}
func.func private @sharding() -> (tensor<4xf32> {coll.sharding = #coll.sharding<@m, [["pp"]]>})

// -----

// global_type
// expected-error@+1 {{argument 0: coll.global_type must be a tensor type of the rank and element type of 'tensor<2x4xf32>', but is tensor<8xf32>}}
func.func @global_type(%x: tensor<2x4xf32> {coll.global_type = tensor<8xf32>}) { return }

// -----

// access
// expected-error@+1 {{argument 0: coll.access must be "read" or "write" or "readwrite", but is "none"}}
func.func @access(%x: tensor<4xf32> {coll.access = "none"}) { return }

// -----

// may_alias
// expected-error@+1 {{argument 0: coll.may_alias must be an array<i64>, but is 0}}
func.func @may_alias(%x: tensor<4xf32> {coll.may_alias = 0}) { return }

// -----

// shardings
func.func @shardings(%x: tensor<4xf32>) {
  // expected-error@+1 {{coll.shardings must be an array of one sharding per result, but is []}}
  %0 = arith.negf %x {coll.shardings = []} : tensor<4xf32>
  return
}

// -----

// shardings: rank
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @shardings(%x: tensor<4xf32>) {
  // expected-error@+1 {{result 0: sharding has 2 dimensions, but its value is 'tensor<4xf32>'}}
  %0 = arith.negf %x {coll.shardings = [#coll.sharding<@m, [[], []]>]} : tensor<4xf32>
  return
}

// -----

// unknown attribute of an argument
// expected-error@+1 {{argument 0: attribute "coll.shardng" is unknown here}}
func.func @unknown(%x: tensor<4xf32> {coll.shardng = "dp"}) { return }

// -----

// unknown attribute of a result
// expected-error@+1 {{result 0: attribute "coll.role" is unknown here}}
func.func private @unknown() -> (tensor<4xf32> {coll.role = "state"})

// -----

// unknown attribute of an operation
func.func @unknown() {
  // expected-error@+1 {{attribute "coll.becuase" is unknown here}}
  coll.barrier over [[0]] {coll.becuase = "x"}
  return
}

// -----

// why
func.func @why(%x: tensor<4xf32>) {
  // expected-error@+1 {{coll.why must be a string, but is 1}}
  %0 = coll.all_reduce sum %x over [[0]] {coll.why = 1} : tensor<4xf32>
  return
}

// -----

// cause
func.func @cause(%x: tensor<4xf32>) {
  // expected-error@+1 {{coll.cause must be a dictionary, but is "x"}}
  %0 = coll.all_reduce sum %x over [[0]] {coll.cause = "x"} : tensor<4xf32>
  return
}

// -----

// decision
func.func @decision(%x: tensor<4xf32>) {
  // expected-error@+1 {{coll.decision must be a dictionary, but is 1}}
  %0 = arith.negf %x {coll.decision = 1} : tensor<4xf32>
  return
}

// -----

// pipeline
// expected-error@+1 {{coll.pipeline must be a dictionary, but is 1}}
module attributes {coll.pipeline = 1} {}

// -----

// stage
func.func @stage(%x: tensor<4xf32>) {
  // expected-error@+1 {{coll.stage must be the number of a stage, from 0, but is -1}}
  %0 = arith.negf %x {coll.stage = -1} : tensor<4xf32>
  return
}

// -----

// a sharding of what has no extents
coll.mesh @m ["dp" = 2]
// expected-error@+1 {{argument 0: only a tensor of static shape has a sharding, but its value is 'tensor<?xf32>'}}
func.func @dynamic(%x: tensor<?xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) { return }

// -----

coll.mesh @m ["dp" = 2]
// expected-error@+1 {{argument 0: only a tensor of static shape has a sharding, but its value is 'memref<4xf32>'}}
func.func @buffer(%x: memref<4xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) { return }

// -----

coll.mesh @m ["dp" = 2]
// expected-error@+1 {{argument 0: only a tensor of static shape has a sharding, but its value is 'f32'}}
func.func @scalar(%x: f32 {coll.sharding = #coll.sharding<@m, []>}) { return }

// -----

// parts without a type
// expected-error@+1 {{argument 0: coll.parts must be an array of {name, offset, state, type}, but is [{name = "m", offset = 0 : i64, state = 1 : i64}]}}
func.func @parts(%x: tensor<4xf32> {coll.parts = [{name = "m", offset = 0 : i64, state = 1 : i64}]}) { return }

// -----

coll.mesh @m ["dp" = 2]
func.func @pin_of_a_change(%x: tensor<4xf32>) {
  // expected-error@+1 {{coll.pin is for a coll.reshard from a sharding to the same one}}
  %0 = coll.reshard %x from <@m, [["dp"]]> to <@m, [[]]> {coll.pin = {open_dims = array<i64>, replicated = []}} : tensor<4xf32>
  return
}

// -----

coll.mesh @m ["dp" = 2]
func.func @pin_of_no_dimension(%x: tensor<4xf32>) {
  // expected-error@+1 {{coll.pin must be a dictionary of open_dims, an array<i64> of dimensions below 1, and replicated, an array of axes, but is}}
  %0 = coll.reshard %x from <@m, [[]]> to <@m, [[]]> {coll.pin = {open_dims = array<i64: 1>, replicated = []}} : tensor<4xf32>
  return
}
