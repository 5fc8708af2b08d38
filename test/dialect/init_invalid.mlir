// RUN: coll-opt %s --verify-diagnostics --split-input-file

// expected-note@+1 {{the mesh is here}}
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @missing_axis() {
  // expected-error@+1 {{mesh @m has no axis "pp"}}
  coll.init over @m["pp"]
  return
}
