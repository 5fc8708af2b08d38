// RUN: coll-opt %s --verify-diagnostics --split-input-file

// permute_c1
func.func @permute_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{pair [0, 2] is not within a group of 2}}
  %r = coll.permute %x pairs [[0, 2]] over [[0, 1]] : tensor<4xf32>
  return
}

// -----

func.func @permute_c1_negative(%x: tensor<4xf32>) {
  // expected-error@+1 {{pair [-1, 0] is not within the group}}
  %r = coll.permute %x pairs [[-1, 0]] over [[0, 1]] : tensor<4xf32>
  return
}

// -----

func.func @permute_c1_huge(%x: tensor<4xf32>) {
  // expected-error@+1 {{pair [0, 9223372036854775807] is not within the group}}
  %r = coll.permute %x pairs [[0, 9223372036854775807]] over [[0, 1]] : tensor<4xf32>
  return
}

// -----

func.func @permute_c1_odd(%x: tensor<4xf32>) {
  // expected-error@+1 {{pairs must list sources and targets, but has 3 entries}}
  %r = "coll.permute"(%x) {pairs = array<i64: 0, 1, 1>, group = #coll.group<[[0, 1]]>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// permute_c2
func.func @permute_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{source 0 occurs twice}}
  %r = coll.permute %x pairs [[0, 1], [0, 0]] over [[0, 1]] : tensor<4xf32>
  return
}

// -----

func.func @permute_c2_target(%x: tensor<4xf32>) {
  // expected-error@+1 {{target 1 occurs twice}}
  %r = coll.permute %x pairs [[0, 1], [1, 1]] over [[0, 1]] : tensor<4xf32>
  return
}

// -----

// permute_c3
func.func @permute_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{has pairs and a shift}}
  %r = "coll.permute"(%x) {pairs = array<i64: 0, 1>, shift = 1 : i64, group = #coll.group<[[0, 1]]>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_c3_wraps(%x: tensor<4xf32>) {
  // expected-error@+1 {{wraps, but has no shift}}
  %r = "coll.permute"(%x) {pairs = array<i64: 0, 1>, wraps, group = #coll.group<[[0, 1]]>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// permute_c4
coll.mesh @m ["dp" = 4]
func.func @permute_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{shift 4 leads out of a group of 4 everywhere}}
  %r = coll.permute %x shift 4 wraps over @m["dp"] : tensor<4xf32>
  return
}

// -----

coll.mesh @m ["dp" = 4]
func.func @permute_c4_down(%x: tensor<4xf32>) {
  // expected-error@+1 {{shift -9223372036854775808 leads out of a group of 4 everywhere}}
  %r = coll.permute %x shift -9223372036854775808 over @m["dp"] : tensor<4xf32>
  return
}

// -----

func.func @by_nothing(%x: tensor<4xf32>) {
  // expected-error@+1 {{a shift by 0 sends nothing}}
  %r = coll.permute %x shift 0 over [[0, 1]] : tensor<4xf32>
  return
}
