// RUN: coll-opt %s --verify-diagnostics --split-input-file

// all_reduce_c1
func.func @all_reduce_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{reduction and needs integer elements, but has 'f32'}}
  %r = coll.all_reduce and %x over [[0, 1]] : tensor<4xf32>
  return
}

// -----

func.func @all_reduce_c1_unsigned(%x: tensor<4xf32>) {
  // expected-error@+1 {{reduction umax needs integer elements, but has 'f32'}}
  %r = coll.all_reduce umax %x over [[0, 1]] : tensor<4xf32>
  return
}

// -----

func.func @all_reduce_c1_average(%x: tensor<4xi32>) {
  // expected-error@+1 {{reduction avg needs float elements, but has 'i32'}}
  %r = coll.all_reduce avg %x over [[0, 1]] : tensor<4xi32>
  return
}

// -----

// all_reduce_c2
func.func @all_reduce_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{combines 'f32' elements in 'f32'; only floats narrower than f32 are combined in f32}}
  %r = coll.all_reduce sum in f32 %x over [[0, 1]] : tensor<4xf32>
  return
}

// -----

func.func @all_reduce_c2_integer(%x: tensor<4xi8>) {
  // expected-error@+1 {{combines 'i8' elements in 'f32'}}
  %r = coll.all_reduce sum in f32 %x over [[0, 1]] : tensor<4xi8>
  return
}

// -----

func.func @all_reduce_c2_type(%x: tensor<4xbf16>) {
  // expected-error@+1 {{combines 'bf16' elements in 'f16'}}
  %r = coll.all_reduce sum in f16 %x over [[0, 1]] : tensor<4xbf16>
  return
}

// -----

func.func @unknown_reduction(%x: tensor<4xf32>) {
  // expected-error@+1 {{unknown reduction 'median'; expected sum, prod}}
  %r = coll.all_reduce median %x over [[0, 1]] : tensor<4xf32>
  return
}

// -----

func.func @unknown_order(%x: tensor<4xf32>) {
  // expected-error@+1 {{unknown order 'tree'; expected any or rank}}
  %r = coll.all_reduce sum %x over [[0, 1]] order tree : tensor<4xf32>
  return
}

// -----

func.func @dynamic_shape(%x: tensor<?xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor}}
  %r = coll.all_reduce sum %x over [[0, 1]] : tensor<?xf32>
  return
}

// -----

func.func @missing_mesh(%x: tensor<4xf32>) {
  // expected-error@+1 {{there is no mesh @absent}}
  %r = coll.all_reduce sum %x over @absent["dp"] : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{the mesh is here}}
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @missing_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{mesh @m has no axis "pp"}}
  %r = coll.all_reduce sum %x over @m["pp"] : tensor<4xf32>
  return
}

// -----

func.func @not_a_mesh(%x: tensor<4xf32>) {
  // expected-error@+1 {{there is no mesh @not_a_mesh}}
  %r = coll.all_reduce sum %x over @not_a_mesh["pp"] : tensor<4xf32>
  return
}
