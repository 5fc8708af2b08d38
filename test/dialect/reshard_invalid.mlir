// RUN: coll-opt %s --verify-diagnostics --split-input-file

// reshard_c1
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @reshard_c1(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{has 1 dimensions, but the value is 'tensor<8x4xf32>'}}
  %r = coll.reshard %x from <@m, [["dp"]]> to <@m, [[], []]> : tensor<8x4xf32>
  return
}

// -----

// reshard_c2
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @reshard_c2(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{goes from mesh @m to mesh @n}}
  %r = coll.reshard %x from <@m, [["dp"], []]> to <@n, [[], []]> : tensor<8x4xf32>
  return
}

// -----

// reshard_c3
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @reshard_c3(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{changes the reduction of a partial value from sum to max}}
  %r = coll.reshard %x from <@m, [[], []], partial sum ["dp"]> to <@m, [[], []], partial max ["dp"]> : tensor<8x4xf32>
  return
}

// -----

// expected-note@+1 {{the mesh is here}}
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @missing_axis(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{mesh @m has no axis "pp"}}
  %r = coll.reshard %x from <@m, [["dp"], []]> to <@m, [["pp"], []]> : tensor<8x4xf32>
  return
}

// -----

// dim_c1
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @dim_c1(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{axis "dp" occurs twice}}
  %r = coll.reshard %x from <@m, [["dp", "dp"], []]> to <@m, [[], []]> : tensor<8x4xf32>
  return
}

// -----

// dim_c2
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @dim_c2(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{unit must be at least 1, but is 0}}
  %r = coll.reshard %x from <@m, [["dp"] unit 0, []]> to <@m, [[], []]> : tensor<8x4xf32>
  return
}

// -----

coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @dim_c2_most(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{unit must be less than 2^31, but is 2147483648}}
  %r = coll.reshard %x from <@m, [["dp"] unit 2147483648, []]> to <@m, [[], []]> : tensor<8x4xf32>
  return
}

// -----

// reshard_c4
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @reshard_c4(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{goes to #coll.sharding<@m, [[], []]>, but its coll.shardings are [#coll.sharding<@m, [["tp"], []]>]}}
  %r = coll.reshard %x from <@m, [["dp"], []]> to <@m, [[], []]> {coll.shardings = [#coll.sharding<@m, [["tp"], []]>]} : tensor<8x4xf32>
  return
}

// -----

// sharding_c1
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @sharding_c1(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{axis "dp" occurs twice}}
  %r = coll.reshard %x from <@m, [["dp"], ["dp"]]> to <@m, [[], []]> : tensor<8x4xf32>
  return
}

// -----

coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @sharding_c1_partial(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{axis "dp" occurs twice}}
  %r = coll.reshard %x from <@m, [["dp"], []], partial sum ["dp"]> to <@m, [[], []]> : tensor<8x4xf32>
  return
}
