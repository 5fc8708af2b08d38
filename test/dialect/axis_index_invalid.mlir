// RUN: coll-opt %s --verify-diagnostics --split-input-file

// axis_index_c1
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @axis_index_c1() {
  // expected-error@+1 {{names no axis}}
  %i = coll.axis_index @m[]
  return
}

// -----

func.func @missing_mesh() {
  // expected-error@+1 {{there is no mesh @absent}}
  %i = coll.axis_index @absent["dp"]
  return
}

// -----

// expected-note@+1 {{the mesh is here}}
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @missing_axis() {
  // expected-error@+1 {{mesh @m has no axis "pp"}}
  %i = coll.axis_index @m["pp"]
  return
}
