// RUN: coll-opt %s --split-input-file --verify-diagnostics --coll-partition

// What other ranks contribute has to be neutral.
module {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>})
      -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]], partial avg ["dp"]>}) {
    // expected-error@+1 {{cannot become partial: avg has no neutral element of type 'f32'}}
    %r = coll.reshard %x from <@m, [[]]> to <@m, [[]], partial avg ["dp"]> {coll.shardings = [#coll.sharding<@m, [[]], partial avg ["dp"]>]} : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// -----

module {
  coll.mesh @m ["dp" = 2]
  // expected-error@+1 {{has been partitioned already: its types are those of one rank}}
  func.func @step(%x: tensor<4xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>, coll.global_type = tensor<8xf32>}) {
    return
  }
}

// -----

// Contributions have to come from somewhere.
module {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>})
      -> (tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]], partial sum ["dp"]>}) {
    // expected-error@+1 {{cannot have a partial result: no operand is partial, and no loop is split over the partial axes; leave them out of its sharding}}
    %r = math.tanh %x {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp"]>]} : tensor<8xf32>
    return %r : tensor<8xf32>
  }
}
