// RUN: coll-opt %s --verify-diagnostics --split-input-file

// expected-note@+1 {{the mesh is here}}
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @missing_axis() {
  // expected-error@+1 {{mesh @m has no axis "pp"}}
  %i, %n = coll.group over @m["pp"]
  return
}

// -----

// group_c1
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @group_c1() {
  // expected-error@+1 {{axis "dp" occurs twice}}
  coll.barrier over @m["dp", "dp"]
  return
}

// -----

func.func @group_c1_rank() {
  // expected-error@+1 {{rank 0 occurs twice}}
  coll.barrier over [[0, 1], [2, 0]]
  return
}

// -----

// group_c2
func.func @group_c2() {
  // expected-error@+1 {{rank -1 is not within 0 to 16777215}}
  coll.barrier over [[0, -1]]
  return
}

// -----

func.func @group_c2_huge() {
  // expected-error@+1 {{rank 9223372036854775807 is not within 0 to 16777215}}
  coll.barrier over [[9223372036854775807]]
  return
}

// -----

// group_c3
func.func @group_c3() {
  // expected-error@+1 {{rank lists have different lengths: 2 and 1}}
  coll.barrier over [[0, 1], [2]]
  return
}

// -----

func.func @group_c3_no_list() {
  // expected-error@+1 {{rank lists must not be empty}}
  coll.barrier over []
  return
}

// -----

func.func @group_c3_empty_list() {
  // expected-error@+1 {{rank lists must not be empty}}
  coll.barrier over [[]]
  return
}

// -----

coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @group_c3_no_axis() {
  // expected-error@+1 {{names no axis of @m}}
  coll.barrier over @m[]
  return
}
