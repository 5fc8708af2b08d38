// RUN: coll-opt %s --verify-diagnostics --split-input-file

func.func @missing_mesh() {
  // expected-error@+1 {{there is no mesh @absent}}
  coll.barrier over @absent["dp"]
  return
}
