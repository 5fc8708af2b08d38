// RUN: coll-opt %s --split-input-file --coll-propagate | FileCheck %s

// Parameters are split and gathered layer by layer, so the gradient of each layer is scattered: the loop carries a part,
// which micro-batches ("mb") add to behind it.

#transposed = affine_map<(m, n, k) -> (k, m)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: @scattered
// CHECK: scf.for
// CHECK: %[[G:.+]] = linalg.matmul {{.*}} -> tensor<8x6xf32>
// CHECK: %[[PART:.+]] = coll.reshard %[[G]] {{.*}}partial sum ["fsdp", "mb"]{{.*}} to {{.*}}["fsdp"], []], partial sum ["mb"]
// CHECK: tensor.insert_slice %[[PART]]
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\[\], \["fsdp"\], \[\]\]}}, partial sum ["mb"]>]}
module @scattered {
  coll.mesh @m ["fsdp" = 2, "mb" = 3]
  func.func @step(%w: tensor<4x8x6xf32> {coll.role = "state", coll.sharding = #coll.sharding<@m, [[], ["fsdp"], []]>},
                  %x: tensor<12x8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@m, [["fsdp", "mb"], []]>})
      -> tensor<4x8x6xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zeros = arith.constant dense<0.0> : tensor<4x8x6xf32>
    %zero = arith.constant dense<0.0> : tensor<8x6xf32>
    %out = arith.constant dense<0.0> : tensor<12x6xf32>
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %zeros) -> tensor<4x8x6xf32> {
      %layer = tensor.extract_slice %w[%i, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<4x8x6xf32> to tensor<8x6xf32>
      %h = linalg.matmul ins(%x, %layer : tensor<12x8xf32>, tensor<8x6xf32>) outs(%out : tensor<12x6xf32>) -> tensor<12x6xf32>
      %d = math.tanh %h : tensor<12x6xf32>
      %g = linalg.matmul indexing_maps = [#transposed, #right, #result]
          ins(%x, %d : tensor<12x8xf32>, tensor<12x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
      %next = tensor.insert_slice %g into %sum[%i, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<8x6xf32> into tensor<4x8x6xf32>
      scf.yield %next : tensor<4x8x6xf32>
    }
    %new = arith.subf %w, %r : tensor<4x8x6xf32>
    return %new : tensor<4x8x6xf32>
  }
}

// -----

// Here only the update is split: no micro-batch waits for other ranks, and the gradients are scattered once, behind all.

#transposed = affine_map<(m, n, k) -> (k, m)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: @summed_once
// CHECK-NOT: coll.reshard
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\[\], \[\], \[\]\]}}, partial sum ["fsdp", "mb"]>]}
module @summed_once {
  coll.mesh @m ["fsdp" = 2, "mb" = 3]
  func.func @step(%w: tensor<4x8x6xf32> {coll.role = "state", coll.sharding = #coll.sharding<@m, [[], ["fsdp"], []]>},
                  %copy: tensor<4x8x6xf32> {coll.role = "batch"},
                  %x: tensor<12x8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@m, [["fsdp", "mb"], []]>})
      -> tensor<4x8x6xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zeros = arith.constant dense<0.0> : tensor<4x8x6xf32>
    %zero = arith.constant dense<0.0> : tensor<8x6xf32>
    %out = arith.constant dense<0.0> : tensor<12x6xf32>
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %zeros) -> tensor<4x8x6xf32> {
      %layer = tensor.extract_slice %copy[%i, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<4x8x6xf32> to tensor<8x6xf32>
      %h = linalg.matmul ins(%x, %layer : tensor<12x8xf32>, tensor<8x6xf32>) outs(%out : tensor<12x6xf32>) -> tensor<12x6xf32>
      %d = math.tanh %h : tensor<12x6xf32>
      %g = linalg.matmul indexing_maps = [#transposed, #right, #result]
          ins(%x, %d : tensor<12x8xf32>, tensor<12x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
      %next = tensor.insert_slice %g into %sum[%i, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<8x6xf32> into tensor<4x8x6xf32>
      scf.yield %next : tensor<4x8x6xf32>
    }
    %new = arith.subf %w, %r : tensor<4x8x6xf32>
    return %new : tensor<4x8x6xf32>
  }
}

// -----

// Without micro-batches, the gradient of each layer is scattered likewise, instead of being combined and cut. A use
// that reads all layers' gradients, as the norm does, reads the parts.

#transposed = affine_map<(m, n, k) -> (k, m)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: @scattered_at_once
// CHECK: scf.for
// CHECK: %[[G:.+]] = linalg.matmul {{.*}} partial sum ["dp", "fsdp"]{{.*}} -> tensor<8x6xf32>
// CHECK: %[[PART:.+]] = coll.reshard %[[G]] from {{.*}}partial sum ["dp", "fsdp"]> to <@m, {{\[\["fsdp"\], \[\]\]>}}
// CHECK: tensor.insert_slice %[[PART]]
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\[\], \["fsdp"\], \[\]\]>}}]}
// CHECK: linalg.generic {{.*}}partial sum ["fsdp"]
module @scattered_at_once {
  coll.mesh @m ["dp" = 2, "fsdp" = 2]
  func.func @step(%w: tensor<4x8x6xf32> {coll.role = "state", coll.sharding = #coll.sharding<@m, [[], ["fsdp"], []]>},
                  %x: tensor<12x8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@m, [["dp", "fsdp"], []]>})
      -> (tensor<4x8x6xf32>, tensor<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zeros = arith.constant dense<0.0> : tensor<4x8x6xf32>
    %zero = arith.constant dense<0.0> : tensor<8x6xf32>
    %out = arith.constant dense<0.0> : tensor<12x6xf32>
    %none = arith.constant dense<0.0> : tensor<f32>
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %zeros) -> tensor<4x8x6xf32> {
      %layer = tensor.extract_slice %w[%i, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<4x8x6xf32> to tensor<8x6xf32>
      %h = linalg.matmul ins(%x, %layer : tensor<12x8xf32>, tensor<8x6xf32>) outs(%out : tensor<12x6xf32>) -> tensor<12x6xf32>
      %d = math.tanh %h : tensor<12x6xf32>
      %g = linalg.matmul indexing_maps = [#transposed, #right, #result]
          ins(%x, %d : tensor<12x8xf32>, tensor<12x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
      %next = tensor.insert_slice %g into %sum[%i, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<8x6xf32> into tensor<4x8x6xf32>
      scf.yield %next : tensor<4x8x6xf32>
    }
    %square = arith.mulf %r, %r : tensor<4x8x6xf32>
    %norm = linalg.generic {indexing_maps = [affine_map<(l, m, n) -> (l, m, n)>, affine_map<(l, m, n) -> ()>],
                            iterator_types = ["reduction", "reduction", "reduction"]}
        ins(%square : tensor<4x8x6xf32>) outs(%none : tensor<f32>) {
    ^bb0(%in: f32, %all: f32):
      %more = arith.addf %all, %in : f32
      linalg.yield %more : f32
    } -> tensor<f32>
    %new = arith.subf %w, %r : tensor<4x8x6xf32>
    return %new, %norm : tensor<4x8x6xf32>, tensor<f32>
  }
}

// -----

// Here nothing takes a part of the gradients, so that each layer's is combined.

#transposed = affine_map<(m, n, k) -> (k, m)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: @read_whole
// CHECK-NOT: coll.reshard
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\[\], \[\], \[\]\]>}}]}
module @read_whole {
  coll.mesh @m ["fsdp" = 2]
  func.func @step(%w: tensor<4x8x6xf32> {coll.role = "state", coll.sharding = #coll.sharding<@m, [[], ["fsdp"], []]>},
                  %copy: tensor<4x8x6xf32> {coll.role = "state"},
                  %x: tensor<12x8xf32> {coll.role = "batch", coll.sharding = #coll.sharding<@m, [["fsdp"], []]>})
      -> (tensor<4x8x6xf32>, tensor<4x8x6xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zeros = arith.constant dense<0.0> : tensor<4x8x6xf32>
    %zero = arith.constant dense<0.0> : tensor<8x6xf32>
    %out = arith.constant dense<0.0> : tensor<12x6xf32>
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %zeros) -> tensor<4x8x6xf32> {
      %layer = tensor.extract_slice %w[%i, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<4x8x6xf32> to tensor<8x6xf32>
      %h = linalg.matmul ins(%x, %layer : tensor<12x8xf32>, tensor<8x6xf32>) outs(%out : tensor<12x6xf32>) -> tensor<12x6xf32>
      %d = math.tanh %h : tensor<12x6xf32>
      %g = linalg.matmul indexing_maps = [#transposed, #right, #result]
          ins(%x, %d : tensor<12x8xf32>, tensor<12x6xf32>) outs(%zero : tensor<8x6xf32>) -> tensor<8x6xf32>
      %next = tensor.insert_slice %g into %sum[%i, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<8x6xf32> into tensor<4x8x6xf32>
      scf.yield %next : tensor<4x8x6xf32>
    }
    %new = arith.subf %copy, %r : tensor<4x8x6xf32>
    return %w, %new : tensor<4x8x6xf32>, tensor<4x8x6xf32>
  }
}
