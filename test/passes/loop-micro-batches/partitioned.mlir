// RUN: coll-opt %s --coll-loop-micro-batches --verify-diagnostics --split-input-file

// How many rows the batch has before the split is in its whole type alone.
coll.mesh @mesh ["mb" = 2]
// expected-error@+1 {{splits argument 0 into micro-batches, but does not tell its shape before the split; give the argument coll.global_type, as coll-partition does}}
func.func @step(%x: tensor<2xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@mesh, [["mb"]]>}) -> tensor<2xf32> {
  %0 = coll.all_reduce sum %x over @mesh["mb"] : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// An average cannot be combined from one micro-batch after the other.
coll.mesh @mesh ["mb" = 2]
func.func @step(%x: tensor<2xf32> {coll.role = "batch", coll.global_type = tensor<4xf32>, coll.sharding = #coll.sharding<@mesh, [["mb"]]>})
    -> tensor<2xf32> {
  // expected-error@+1 {{averages over micro-batches, which are combined one by one; take their sum, and divide it by their number}}
  %0 = coll.all_reduce avg %x over @mesh["mb"] : tensor<2xf32>
  return %0 : tensor<2xf32>
}
