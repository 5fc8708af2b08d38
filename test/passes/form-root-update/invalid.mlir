// RUN: coll-opt %s --coll-form-root-update="root=best" --verify-diagnostics

// expected-error@+1 {{root 'best' is unknown; use hash, balanced or shard}}
func.func @step() { return }
