// RUN: coll-opt %s --split-input-file --verify-diagnostics --coll-insert-data-parallel=ranks=2 | FileCheck %s

// A mesh that has the axis and the size is used.
// CHECK-LABEL: module @own_mesh
// CHECK: coll.mesh @grid ["dp" = 2, "tp" = 3]
// CHECK-NOT: coll.mesh
// CHECK: func.func @step(%{{.*}}: tensor<4xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@grid, {{\[\["dp"\]\]}}>})
module @own_mesh {
  coll.mesh @grid ["dp" = 2, "tp" = 3]
  func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// A random key is not a batch of anything: it is replicated, and said to be.
// CHECK-LABEL: module @key
// CHECK: tensor<2xi32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\[\]\]}}>}
// CHECK-SAME: tensor<f32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, []>}
module @key {
  // expected-remark@+1 {{batch argument 1 has leading extent 2, not the batch size 8: it is replicated}}
  func.func @step(%x: tensor<8xf32> {coll.role = "batch"}, %key: tensor<2xi32> {coll.role = "batch"},
                  %rate: tensor<f32> {coll.role = "batch"}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

// A sharding that the user wrote stays.
// CHECK-LABEL: module @given
// CHECK: func.func @step(%{{.*}}: tensor<8x4xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["dp"\]\]}}>})
module @given {
  coll.mesh @mesh ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.role = "batch",
                  coll.sharding = #coll.sharding<@mesh, [[], ["dp"]]>}) -> tensor<8x4xf32> {
    return %x : tensor<8x4xf32>
  }
}

// -----

// An init function that the user wrote stays.
// CHECK-LABEL: module @own_init
// CHECK-COUNT-1: func.func @init
// CHECK-NOT: coll.broadcast
module @own_init {
  func.func @init(%w: tensor<4xf32> {coll.role = "state"}) -> tensor<4xf32> {
    return %w : tensor<4xf32>
  }
  func.func @step(%w: tensor<4xf32> {coll.role = "state"}) -> tensor<4xf32> {
    return %w : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{has no function @step to distribute}}
module @empty {
}

// -----

module @wrong_size {
  // expected-error@+1 {{has no axis "dp" of size 2 to split the batch over}}
  coll.mesh @grid ["dp" = 4]
  func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module @name_taken {
  func.func @step(%x: tensor<4xf32> {coll.role = "batch"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  // expected-error@+1 {{takes the name @mesh that the mesh needs}}
  func.func private @mesh()
}
