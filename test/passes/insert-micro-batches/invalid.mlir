// RUN: coll-opt %s --coll-insert-micro-batches=count=2 --split-input-file --verify-diagnostics

// expected-error @+1 {{has no mesh (coll-insert-strategy)}}
func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{has an axis "mb", which micro-batches need}}
coll.mesh @mesh ["mb" = 2]
func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

coll.mesh @mesh ["dp" = 2]
// expected-error @+1 {{has no batch argument to cut into micro-batches}}
func.func @step(%w: tensor<4xf32> {coll.role = "state"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

coll.mesh @mesh ["dp" = 2]
// expected-error @+1 {{argument 0 is split in units of 2 rows, which micro-batches would cut}}
func.func @step(%x: tensor<8xf32> {coll.role = "batch",
                                   coll.sharding = #coll.sharding<@mesh, [["dp"] unit 2]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
