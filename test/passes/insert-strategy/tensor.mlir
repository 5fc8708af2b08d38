// RUN: coll-opt %s --split-input-file --coll-insert-strategy='mesh=a=2,b=2 strategy=data:b,tensor:a' | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#last = affine_map<(i, j) -> (j)>

// Momentum and bias are split as the weights they belong to.
// CHECK-LABEL: module @hidden
// CHECK: func.func @step(
// CHECK-SAME: coll.name = "w1", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["a"\]\]}}>
// CHECK-SAME: coll.name = "m1", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["a"\]\]}}>
// CHECK-SAME: coll.name = "b1", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["a"\]\]}}>
// CHECK-SAME: coll.name = "w2", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["a"\], \[\]\]}}>
// CHECK-SAME: coll.name = "x", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\["b"\], \[\]\]}}>
module @hidden {
  func.func @step(%w1: tensor<32x64xf32> {coll.role = "state", coll.name = "w1"},
                  %m1: tensor<32x64xf32> {coll.role = "state", coll.name = "m1"},
                  %b1: tensor<64xf32> {coll.role = "state", coll.name = "b1"},
                  %w2: tensor<64x32xf32> {coll.role = "state", coll.name = "w2"},
                  %x: tensor<8x32xf32> {coll.role = "batch", coll.name = "x"})
      -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x32xf32>, tensor<8x32xf32>) {
    %zero = arith.constant dense<0.0> : tensor<8x64xf32>
    %zero_y = arith.constant dense<0.0> : tensor<8x32xf32>
    %half = arith.constant dense<0.5> : tensor<32x64xf32>
    %h = linalg.matmul ins(%x, %w1 : tensor<8x32xf32>, tensor<32x64xf32>)
                       outs(%zero : tensor<8x64xf32>) -> tensor<8x64xf32>
    %b = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel"]}
         ins(%h, %b1 : tensor<8x64xf32>, tensor<64xf32>) outs(%zero : tensor<8x64xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %n = arith.addf %l, %r : f32
      linalg.yield %n : f32
    } -> tensor<8x64xf32>
    %y = linalg.matmul ins(%b, %w2 : tensor<8x64xf32>, tensor<64x32xf32>)
                       outs(%zero_y : tensor<8x32xf32>) -> tensor<8x32xf32>
    %m = arith.mulf %m1, %half : tensor<32x64xf32>
    %w = arith.addf %w1, %m : tensor<32x64xf32>
    return %w, %m, %b1, %w2, %y
      : tensor<32x64xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<64x32xf32>, tensor<8x32xf32>
  }
}

// -----

// A layer norm sums over the columns: they are not split. Those of a vocabulary are.
// CHECK-LABEL: module @stream
// CHECK: func.func @step(
// CHECK-SAME: coll.name = "w1", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \[\]\]}}>
// CHECK-SAME: coll.name = "w2", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["a"\]\]}}>
module @stream {
  func.func @step(%w1: tensor<32x32xf32> {coll.role = "state", coll.name = "w1"},
                  %w2: tensor<32x512xf32> {coll.role = "state", coll.name = "w2"},
                  %x: tensor<8x32xf32> {coll.role = "batch", coll.name = "x"})
      -> (tensor<32x32xf32>, tensor<32x512xf32>, tensor<8xf32>, tensor<8x512xf32>) {
    %zero = arith.constant dense<0.0> : tensor<8x32xf32>
    %zero_y = arith.constant dense<0.0> : tensor<8x512xf32>
    %zero_s = arith.constant dense<0.0> : tensor<8xf32>
    %h = linalg.matmul ins(%x, %w1 : tensor<8x32xf32>, tensor<32x32xf32>)
                       outs(%zero : tensor<8x32xf32>) -> tensor<8x32xf32>
    %sum = linalg.reduce { arith.addf } ins(%h : tensor<8x32xf32>) outs(%zero_s : tensor<8xf32>) dimensions = [1]
    %y = linalg.matmul ins(%h, %w2 : tensor<8x32xf32>, tensor<32x512xf32>)
                       outs(%zero_y : tensor<8x512xf32>) -> tensor<8x512xf32>
    return %w1, %w2, %sum, %y : tensor<32x32xf32>, tensor<32x512xf32>, tensor<8xf32>, tensor<8x512xf32>
  }
}

// -----

// The norm of all gradients, for clipping, sums over the columns, too: it leaves one number, and is
// no reason to keep them whole.
// CHECK-LABEL: module @clipped
// CHECK: func.func @step(
// CHECK-SAME: coll.name = "w1", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \["a"\]\]}}>
// CHECK-SAME: coll.name = "w2", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\["a"\], \[\]\]}}>
module @clipped {
  func.func @step(%w1: tensor<32x64xf32> {coll.role = "state", coll.name = "w1"},
                  %w2: tensor<64x32xf32> {coll.role = "state", coll.name = "w2"},
                  %x: tensor<8x32xf32> {coll.role = "batch", coll.name = "x"})
      -> (tensor<32x64xf32>, tensor<64x32xf32>, tensor<f32>, tensor<8x32xf32>) {
    %zero = arith.constant dense<0.0> : tensor<8x64xf32>
    %zero_y = arith.constant dense<0.0> : tensor<8x32xf32>
    %zero_s = arith.constant dense<0.0> : tensor<f32>
    %h = linalg.matmul ins(%x, %w1 : tensor<8x32xf32>, tensor<32x64xf32>)
                       outs(%zero : tensor<8x64xf32>) -> tensor<8x64xf32>
    %norm = linalg.reduce { arith.addf } ins(%h : tensor<8x64xf32>) outs(%zero_s : tensor<f32>) dimensions = [0, 1]
    %y = linalg.matmul ins(%h, %w2 : tensor<8x64xf32>, tensor<64x32xf32>)
                       outs(%zero_y : tensor<8x32xf32>) -> tensor<8x32xf32>
    return %w1, %w2, %norm, %y : tensor<32x64xf32>, tensor<64x32xf32>, tensor<f32>, tensor<8x32xf32>
  }
}

// -----

// Weights of which a part is read, not from the first column on, are not split along the columns: ranks
// would exchange columns in each step.
// CHECK-LABEL: module @part_of_weights
// CHECK: func.func @step(
// CHECK-SAME: coll.name = "w1", coll.role = "state", coll.sharding = #coll.sharding<@mesh, {{\[\[\], \[\]\]}}>
module @part_of_weights {
  func.func @step(%w1: tensor<32x66xf32> {coll.role = "state", coll.name = "w1"},
                  %w2: tensor<64x32xf32> {coll.role = "state", coll.name = "w2"},
                  %x: tensor<8x32xf32> {coll.role = "batch", coll.name = "x"})
      -> (tensor<32x66xf32>, tensor<64x32xf32>, tensor<8x32xf32>) {
    %zero = arith.constant dense<0.0> : tensor<8x64xf32>
    %zero_y = arith.constant dense<0.0> : tensor<8x32xf32>
    %part = tensor.extract_slice %w1[0, 1] [32, 64] [1, 1] : tensor<32x66xf32> to tensor<32x64xf32>
    %h = linalg.matmul ins(%x, %part : tensor<8x32xf32>, tensor<32x64xf32>)
                       outs(%zero : tensor<8x64xf32>) -> tensor<8x64xf32>
    %y = linalg.matmul ins(%h, %w2 : tensor<8x64xf32>, tensor<64x32xf32>)
                       outs(%zero_y : tensor<8x32xf32>) -> tensor<8x32xf32>
    return %w1, %w2, %y : tensor<32x66xf32>, tensor<64x32xf32>, tensor<8x32xf32>
  }
}
