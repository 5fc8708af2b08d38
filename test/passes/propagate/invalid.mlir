// RUN: coll-opt %s --split-input-file --verify-diagnostics --coll-propagate

module {
  coll.mesh @m ["dp" = 2]
  coll.mesh @n ["dp" = 2]
  // expected-error@+1 {{is sharded over mesh @n, but another value of this function over @m}}
  func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>},
                  %y: tensor<8xf32> {coll.sharding = #coll.sharding<@n, [["dp"]]>}) {
    return
  }
}

// -----

module {
  coll.mesh @m ["dp" = 2]
  // expected-error@+1 {{has several blocks; use scf for control flow}}
  func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) -> tensor<8xf32> {
    cf.br ^bb1
  ^bb1:
    return %x : tensor<8xf32>
  }
}
