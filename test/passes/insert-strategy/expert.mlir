// RUN: coll-opt %s --split-input-file --coll-insert-strategy='mesh=dp=2,ep=2 strategy=data,expert' | FileCheck %s
// RUN: coll-opt %s --split-input-file --coll-insert-strategy='mesh=dp=4 strategy=data,expert:dp' | FileCheck %s --check-prefix=SHARED

#all = affine_map<(e, c, f) -> (e, c, f)>
#bias = affine_map<(e, c, f) -> (e, f)>

// Each expert has tokens of its own. Its bias and its momentum go with it; the head does not.
// CHECK-LABEL: module @tokens_of_its_own
// CHECK: func.func @step(
// CHECK-SAME: coll.name = "w", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["ep"\], \[\], \[\]\]}}>
// CHECK-SAME: coll.name = "m", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["ep"\], \[\], \[\]\]}}>
// CHECK-SAME: coll.name = "b", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["ep"\], \[\]\]}}>
// CHECK-SAME: coll.name = "x", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\], \[\], \[\]\]}}>
// SHARED-LABEL: module @tokens_of_its_own
// SHARED: func.func @step(
// SHARED-SAME: coll.name = "w", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\], \[\], \[\]\]}}>
// SHARED-SAME: coll.name = "x", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\["dp"\], \[\], \[\]\]}}>
module @tokens_of_its_own {
  func.func @step(%w: tensor<4x8x16xf32> {coll.role = "state", coll.name = "w"},
                  %m: tensor<4x8x16xf32> {coll.role = "state", coll.name = "m"},
                  %b: tensor<4x16xf32> {coll.role = "state", coll.name = "b"},
                  %x: tensor<12x4x8xf32> {coll.role = "batch", coll.name = "x"})
      -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x16xf32>, tensor<4x12x16xf32>) {
    %zero = arith.constant dense<0.0> : tensor<4x12x16xf32>
    %empty = tensor.empty() : tensor<4x12x8xf32>
    %half = arith.constant dense<0.5> : tensor<4x8x16xf32>
    %t = linalg.transpose ins(%x : tensor<12x4x8xf32>) outs(%empty : tensor<4x12x8xf32>) permutation = [1, 0, 2]
    %h = linalg.batch_matmul ins(%t, %w : tensor<4x12x8xf32>, tensor<4x8x16xf32>)
                             outs(%zero : tensor<4x12x16xf32>) -> tensor<4x12x16xf32>
    %y = linalg.generic {indexing_maps = [#all, #bias, #all], iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%h, %b : tensor<4x12x16xf32>, tensor<4x16xf32>) outs(%zero : tensor<4x12x16xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %n = arith.addf %l, %r : f32
      linalg.yield %n : f32
    } -> tensor<4x12x16xf32>
    %m1 = arith.mulf %m, %half : tensor<4x8x16xf32>
    %w1 = arith.addf %w, %m1 : tensor<4x8x16xf32>
    return %w1, %m1, %b, %y : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x16xf32>, tensor<4x12x16xf32>
  }
}

// -----

#tokens = affine_map<(c, e, f, d) -> (c, d)>
#in = affine_map<(c, e, f, d) -> (e, d, f)>
#hidden = affine_map<(c, e, f, d) -> (c, e, f)>
#mixed = affine_map<(c, e, d, f) -> (c, e, f)>
#out = affine_map<(c, e, d, f) -> (e, f, d)>
#made = affine_map<(c, e, d, f) -> (c, e, d)>

// All experts see all tokens: the first weights are split since the second ones take their results
// expert by expert. A head with three dimensions that meets no experts is not split.
// CHECK-LABEL: module @all_tokens
// CHECK: func.func @step(
// CHECK-SAME: coll.name = "in", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["ep"\], \[\], \[\]\]}}>
// CHECK-SAME: coll.name = "out", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["ep"\], \[\], \[\]\]}}>
// CHECK-SAME: coll.name = "head", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \[\], \[\]\]}}>
module @all_tokens {
  func.func @step(%in: tensor<4x8x16xf32> {coll.role = "state", coll.name = "in"},
                  %out: tensor<4x16x8xf32> {coll.role = "state", coll.name = "out"},
                  %head: tensor<2x8x6xf32> {coll.role = "state", coll.name = "head"},
                  %x: tensor<12x8xf32> {coll.role = "batch", coll.name = "x"})
      -> (tensor<4x8x16xf32>, tensor<4x16x8xf32>, tensor<2x8x6xf32>, tensor<12x4x8xf32>, tensor<12x2x6xf32>) {
    %zero_h = arith.constant dense<0.0> : tensor<12x4x16xf32>
    %zero_y = arith.constant dense<0.0> : tensor<12x4x8xf32>
    %zero_z = arith.constant dense<0.0> : tensor<12x2x6xf32>
    %h = linalg.generic {indexing_maps = [#tokens, #in, #hidden], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%x, %in : tensor<12x8xf32>, tensor<4x8x16xf32>) outs(%zero_h : tensor<12x4x16xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %p = arith.mulf %l, %r : f32
      %n = arith.addf %o, %p : f32
      linalg.yield %n : f32
    } -> tensor<12x4x16xf32>
    %g = math.tanh %h : tensor<12x4x16xf32>
    %y = linalg.generic {indexing_maps = [#mixed, #out, #made], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%g, %out : tensor<12x4x16xf32>, tensor<4x16x8xf32>) outs(%zero_y : tensor<12x4x8xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %p = arith.mulf %l, %r : f32
      %n = arith.addf %o, %p : f32
      linalg.yield %n : f32
    } -> tensor<12x4x8xf32>
    %z = linalg.generic {indexing_maps = [#tokens, #in, #hidden], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%x, %head : tensor<12x8xf32>, tensor<2x8x6xf32>) outs(%zero_z : tensor<12x2x6xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %p = arith.mulf %l, %r : f32
      %n = arith.addf %o, %p : f32
      linalg.yield %n : f32
    } -> tensor<12x2x6xf32>
    return %in, %out, %head, %y, %z
      : tensor<4x8x16xf32>, tensor<4x16x8xf32>, tensor<2x8x6xf32>, tensor<12x4x8xf32>, tensor<12x2x6xf32>
  }
}

// -----

#rows = affine_map<(e, t, f) -> (e, t)>
#full = affine_map<(e, t, f) -> (e, t, f)>
#given = affine_map<(d, e, t) -> (t, d)>
#counted = affine_map<(d, e, t) -> (e, t)>
#router = affine_map<(d, e, t) -> (d, e)>
#routed = affine_map<(t, e, d) -> (t, e)>
#from = affine_map<(t, e, d) -> (t, d)>
#by = affine_map<(t, e, d) -> (d, e)>

// What routes tokens stays whole, though its gradient counts experts.
// CHECK-LABEL: module @router
// CHECK: func.func @step(
// CHECK-SAME: coll.name = "w", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["ep"\], \[\], \[\]\]}}>
// CHECK-SAME: coll.name = "route", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \[\]\]}}>
module @router {
  func.func @step(%w: tensor<4x8x16xf32> {coll.role = "state", coll.name = "w"},
                  %route: tensor<8x4xf32> {coll.role = "state", coll.name = "route"},
                  %x: tensor<12x8xf32> {coll.role = "batch", coll.name = "x"},
                  %t: tensor<4x12x8xf32> {coll.role = "batch", coll.name = "t"})
      -> (tensor<4x8x16xf32>, tensor<8x4xf32>, tensor<12x4xf32>) {
    %zero = arith.constant dense<0.0> : tensor<4x12x16xf32>
    %zero_o = arith.constant dense<0.0> : tensor<12x4xf32>
    %zero_s = arith.constant dense<0.0> : tensor<4x12xf32>
    %zero_r = arith.constant dense<0.0> : tensor<8x4xf32>
    %odds = linalg.generic {indexing_maps = [#from, #by, #routed], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x, %route : tensor<12x8xf32>, tensor<8x4xf32>) outs(%zero_o : tensor<12x4xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %p = arith.mulf %l, %r : f32
      %n = arith.addf %o, %p : f32
      linalg.yield %n : f32
    } -> tensor<12x4xf32>
    %h = linalg.batch_matmul ins(%t, %w : tensor<4x12x8xf32>, tensor<4x8x16xf32>)
                             outs(%zero : tensor<4x12x16xf32>) -> tensor<4x12x16xf32>
    %s = linalg.generic {indexing_maps = [#full, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%h : tensor<4x12x16xf32>) outs(%zero_s : tensor<4x12xf32>) {
    ^bb0(%l: f32, %o: f32):
      %n = arith.addf %o, %l : f32
      linalg.yield %n : f32
    } -> tensor<4x12xf32>
    %g = linalg.generic {indexing_maps = [#given, #counted, #router], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x, %s : tensor<12x8xf32>, tensor<4x12xf32>) outs(%zero_r : tensor<8x4xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %p = arith.mulf %l, %r : f32
      %n = arith.addf %o, %p : f32
      linalg.yield %n : f32
    } -> tensor<8x4xf32>
    %new = arith.addf %route, %g : tensor<8x4xf32>
    return %w, %new, %odds : tensor<4x8x16xf32>, tensor<8x4xf32>, tensor<12x4xf32>
  }
}
