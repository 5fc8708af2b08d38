// RUN: coll-opt %s --verify-diagnostics --split-input-file

// broadcast_c1
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @broadcast_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{root 8 is not within a group of 8}}
  %r = coll.broadcast %x from 8 over @m["dp", "tp"] : tensor<4xf32>
  return
}

// -----

func.func @broadcast_c1_negative(%x: tensor<4xf32>) {
  // expected-error@+1 {{root -9223372036854775808 is not within a group of 1}}
  %r = coll.broadcast %x from -9223372036854775808 over [[0]] : tensor<4xf32>
  return
}
