// RUN: coll-opt %s --split-input-file --coll-propagate | FileCheck %s
// RUN: coll-opt %s --split-input-file --coll-propagate --coll-insert-reshards --coll-partition -o %t
// RUN: coll-opt %s --split-input-file --coll-propagate -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// Batch and weights are split by one axis. The weights are small here: they are gathered, and the
// rows stay where they are.
// CHECK-LABEL: @gathered_weights
// CHECK: linalg.matmul {coll.decision = {chosen = "{{[a-z0-9 ]+}} split", {{.*}}coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
module @gathered_weights {
  coll.mesh @m ["dp" = 4]
  func.func @step(%x: tensor<512x8xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %w: tensor<8x16xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<512x16xf32> {
    %zero = arith.constant dense<0.0> : tensor<512x16xf32>
    %r = linalg.matmul ins(%x, %w : tensor<512x8xf32>, tensor<8x16xf32>)
                       outs(%zero : tensor<512x16xf32>) -> tensor<512x16xf32>
    return %r : tensor<512x16xf32>
  }
}

// -----

// Here the rows are few: they are exchanged, and the weights stay where they are.
// CHECK-LABEL: @kept_weights
// CHECK: linalg.matmul {{.*}}coll.shardings = [#coll.sharding<@m, {{\[\[\], \[\]\]}}, partial sum ["dp"]>]}
module @kept_weights {
  coll.mesh @m ["dp" = 4]
  func.func @step(%x: tensor<8x512xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %w: tensor<512x64xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<8x64xf32> {
    %zero = arith.constant dense<0.0> : tensor<8x64xf32>
    %r = linalg.matmul ins(%x, %w : tensor<8x512xf32>, tensor<512x64xf32>)
                       outs(%zero : tensor<8x64xf32>) -> tensor<8x64xf32>
    return %r : tensor<8x64xf32>
  }
}

// -----

// A sharding that is written on a product does not gather its operands: its sum is split, and a
// reshard behind it gives what is written.
// CHECK-LABEL: @pinned
// CHECK: %[[PRODUCT:.*]] = linalg.matmul {{.*}}partial sum ["tp"]
// CHECK: coll.reshard %[[PRODUCT]] from <@m, {{\[\[\], \[\]\]}}, partial sum ["tp"]> to <@m, {{\[\["tp"\], \[\]\]}}>
// CHECK-SAME: coll.why = "the sharding that is written on linalg.matmul"
module @pinned {
  coll.mesh @m ["tp" = 2]
  func.func @step(%x: tensor<64x32xf32> {coll.sharding = #coll.sharding<@m, [[], ["tp"]]>},
                  %w: tensor<32x64xf32> {coll.sharding = #coll.sharding<@m, [["tp"], []]>})
      -> tensor<64x64xf32> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %r = linalg.matmul {coll.shardings = [#coll.sharding<@m, [["tp"], []]>]}
         ins(%x, %w : tensor<64x32xf32>, tensor<32x64xf32>) outs(%zero : tensor<64x64xf32>)
         -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}

// -----

// Axes that both operands' splits begin with stay.
// CHECK-LABEL: @prefix
// CHECK: arith.addf {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\["dp", "a"\], \[\]\]}}>]}
module @prefix {
  coll.mesh @m ["dp" = 2, "a" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp", "a"], []]>},
                  %y: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<8x4xf32> {
    %r = arith.addf %x, %y : tensor<8x4xf32>
    return %r : tensor<8x4xf32>
  }
}

// -----

// A sum's loop is split by the axes that are free, the first one of two here.
// CHECK-LABEL: @prefix_of_sum
// CHECK: linalg.matmul {{.*}}coll.shardings = [#coll.sharding<@m, {{\[\["b"\], \[\]\]}}, partial sum ["a"]>]}
// REMARK: remark: is split
module @prefix_of_sum {
  coll.mesh @m ["a" = 2, "b" = 2]
  func.func @step(%x: tensor<64x64xf32> {coll.sharding = #coll.sharding<@m, [["b"], []]>},
                  %w: tensor<64x8xf32> {coll.sharding = #coll.sharding<@m, [["a", "b"], []]>})
      -> tensor<64x8xf32> {
    %zero = arith.constant dense<0.0> : tensor<64x8xf32>
    %r = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x8xf32>)
                       outs(%zero : tensor<64x8xf32>) -> tensor<64x8xf32>
    return %r : tensor<64x8xf32>
  }
}

// -----

// Rows of two batches become one batch, and the work on it is divided as that on each.
// CHECK-LABEL: @concatenated
// CHECK: %[[BOTH:.*]] = tensor.concat {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
// CHECK: linalg.matmul {{.*}}coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]} ins(%[[BOTH]],
module @concatenated {
  coll.mesh @m ["dp" = 4]
  func.func @step(%x: tensor<64x64xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %y: tensor<64x64xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %w: tensor<64x64xf32>) -> tensor<64xf32> {
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %none = arith.constant dense<0.0> : tensor<64xf32>
    %both = tensor.concat dim(0) %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
    %r = linalg.matmul ins(%both, %w : tensor<128x64xf32>, tensor<64x64xf32>)
                       outs(%zero : tensor<128x64xf32>) -> tensor<128x64xf32>
    %sum = linalg.reduce { arith.addf } ins(%r : tensor<128x64xf32>) outs(%none : tensor<64xf32>) dimensions = [0]
    return %sum : tensor<64xf32>
  }
}

// -----

// What the update asks for is known at the product, behind a transposition: its sum over "tp" is
// split as the weights are, and the gradient is not exchanged.
// CHECK-LABEL: @wish_behind
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x256xf32>, tensor<64x64xf32>)
// CHECK-SAME: coll.shardings = [#coll.sharding<@m, {{\[\[\], \["tp"\]\]}}, partial sum ["dp"]>]
#gb = affine_map<(j, i, b) -> (b, j)>
#xb = affine_map<(j, i, b) -> (b, i)>
#ji = affine_map<(j, i, b) -> (j, i)>
module @wish_behind {
  coll.mesh @m ["dp" = 4, "tp" = 2]
  func.func @step(%w: tensor<64x256xf32> {coll.role = "state", coll.sharding = #coll.sharding<@m, [["tp"], []]>},
                  %x: tensor<64x64xf32> {coll.sharding = #coll.sharding<@m, [["dp"], ["tp"]]>},
                  %g: tensor<64x256xf32> {coll.sharding = #coll.sharding<@m, [["dp"], ["tp"]]>})
      -> tensor<64x256xf32> {
    %zero = arith.constant dense<0.0> : tensor<256x64xf32>
    %empty = tensor.empty() : tensor<64x256xf32>
    %dw = linalg.generic {indexing_maps = [#gb, #xb, #ji], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%g, %x : tensor<64x256xf32>, tensor<64x64xf32>) outs(%zero : tensor<256x64xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %p = arith.mulf %l, %r : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<256x64xf32>
    %t = linalg.transpose ins(%dw : tensor<256x64xf32>) outs(%empty : tensor<64x256xf32>) permutation = [1, 0]
    %next = arith.subf %w, %t : tensor<64x256xf32>
    return %next : tensor<64x256xf32>
  }
}

// -----

// The smaller operand decides about the axis that both are split by, and the other one about the
// axis that it alone is split by.
// CHECK-LABEL: @smaller_first
// CHECK: linalg.generic {{.*}}coll.decision = {chosen = "as operand 1 is split"{{.*}}coll.shardings = [#coll.sharding<@m, {{\[\[\], \["y"\], \["x"\]\]}}>]
#xs = affine_map<(a, b, j, k) -> (a, b, k)>
#ws = affine_map<(a, b, j, k) -> (k, j)>
#rs = affine_map<(a, b, j, k) -> (a, b, j)>
module @smaller_first {
  coll.mesh @m ["x" = 2, "y" = 4]
  func.func @step(%x: tensor<8x8x64xf32> {coll.sharding = #coll.sharding<@m, [["x"], ["y"], []]>},
                  %w: tensor<64x24xf32> {coll.sharding = #coll.sharding<@m, [[], ["x"]]>})
      -> tensor<8x8x24xf32> {
    %zero = arith.constant dense<0.0> : tensor<8x8x24xf32>
    %r = linalg.generic {indexing_maps = [#xs, #ws, #rs],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
         ins(%x, %w : tensor<8x8x64xf32>, tensor<64x24xf32>) outs(%zero : tensor<8x8x24xf32>) {
    ^bb0(%l: f32, %m: f32, %o: f32):
      %p = arith.mulf %l, %m : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<8x8x24xf32>
    return %r : tensor<8x8x24xf32>
  }
}

// -----

// The operands split the sum by different axes. Its result is large beside them, so both are gathered.
// CHECK-LABEL: @whole_sum
// CHECK: linalg.matmul {coll.decision = {chosen = "without splitting a sum"{{.*}}coll.shardings = [#coll.sharding<@m, {{\[\[\], \[\]\]}}>]
module @whole_sum {
  coll.mesh @m ["x" = 2, "y" = 2]
  func.func @step(%x: tensor<512x4xf32> {coll.sharding = #coll.sharding<@m, [[], ["x"]]>},
                  %w: tensor<4x256xf32> {coll.sharding = #coll.sharding<@m, [["y"], []]>})
      -> tensor<512x256xf32> {
    %zero = arith.constant dense<0.0> : tensor<512x256xf32>
    %r = linalg.matmul ins(%x, %w : tensor<512x4xf32>, tensor<4x256xf32>)
                       outs(%zero : tensor<512x256xf32>) -> tensor<512x256xf32>
    return %r : tensor<512x256xf32>
  }
}
