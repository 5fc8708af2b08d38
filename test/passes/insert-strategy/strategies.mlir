// RUN: coll-opt %s --coll-insert-strategy='mesh=dp=4 strategy=fsdp' | FileCheck %s --check-prefix=FSDP
// RUN: coll-opt %s --coll-insert-strategy='mesh=dp=4 strategy=zero1' | FileCheck %s --check-prefix=ZERO1
// RUN: coll-opt %s --coll-insert-strategy='mesh=dp=2,sp=2 strategy=data,sequence' | FileCheck %s --check-prefix=SEQUENCE

// All state is split, along its longest dimension that the axis divides; a few elements are not.
// FSDP: func.func @step(
// FSDP-SAME: coll.name = "w", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["dp"\]\]}}>
// FSDP-SAME: coll.name = "m", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["dp"\]\]}}>
// FSDP-SAME: coll.name = "b", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\]\]}}>
// FSDP-SAME: coll.name = "x", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\], \[\], \[\]\]}}>

// The momentum is the optimizer's; the weights, which the loss depends on, stay whole.
// ZERO1: func.func @step(
// ZERO1-SAME: coll.name = "w", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \[\]\]}}>
// ZERO1-SAME: coll.name = "m", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["dp"\]\]}}>
// ZERO1-SAME: coll.name = "x", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\], \[\], \[\]\]}}>

// SEQUENCE: func.func @step(
// SEQUENCE-SAME: coll.name = "x", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\], \["sp"\], \[\]\]}}>

#rows = affine_map<(b, s, k, n) -> (b, s, k)>
#weights = affine_map<(b, s, k, n) -> (k, n)>
#out = affine_map<(b, s, k, n) -> (b, s, n)>
#all = affine_map<(b, s, n) -> (b, s, n)>
#last = affine_map<(b, s, n) -> (n)>
#none = affine_map<(b, s, n) -> ()>
func.func @step(%w: tensor<32x64xf32> {coll.role = "state", coll.name = "w"},
                %m: tensor<32x64xf32> {coll.role = "state", coll.name = "m"},
                %b: tensor<64xf32> {coll.role = "state", coll.name = "b"},
                %x: tensor<8x4x32xf32> {coll.role = "batch", coll.name = "x"})
    -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<8x4x64xf32>
  %start = arith.constant dense<0.0> : tensor<f32>
  %half = arith.constant dense<0.5> : tensor<32x64xf32>
  %h = linalg.generic {indexing_maps = [#rows, #weights, #out],
                       iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
       ins(%x, %w : tensor<8x4x32xf32>, tensor<32x64xf32>) outs(%zero : tensor<8x4x64xf32>) {
  ^bb0(%l: f32, %r: f32, %sum: f32):
    %p = arith.mulf %l, %r : f32
    %n = arith.addf %sum, %p : f32
    linalg.yield %n : f32
  } -> tensor<8x4x64xf32>
  %y = linalg.generic {indexing_maps = [#all, #last, #all],
                       iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%h, %b : tensor<8x4x64xf32>, tensor<64xf32>) outs(%zero : tensor<8x4x64xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %n = arith.addf %l, %r : f32
    linalg.yield %n : f32
  } -> tensor<8x4x64xf32>
  %loss = linalg.generic {indexing_maps = [#all, #none],
                          iterator_types = ["reduction", "reduction", "reduction"]}
          ins(%y : tensor<8x4x64xf32>) outs(%start : tensor<f32>) {
  ^bb0(%l: f32, %sum: f32):
    %n = arith.addf %sum, %l : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %next = arith.mulf %m, %half : tensor<32x64xf32>
  %new = arith.addf %w, %next : tensor<32x64xf32>
  return %new, %next, %b, %loss : tensor<32x64xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<f32>
}
