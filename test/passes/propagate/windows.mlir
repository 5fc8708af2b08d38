// RUN: coll-opt %s --split-input-file --coll-propagate | FileCheck %s

// A window and the padding of its input become one operation, which keeps the split of positions.
// CHECK-LABEL: @sum_of_three
// CHECK: coll.window %{{.*}} {
// CHECK: tensor.pad
// CHECK: linalg.generic
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\["sp"\]\]}}>]}
module @sum_of_three {
  coll.mesh @m ["sp" = 4]
  func.func @step(%x: tensor<16xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>}) -> tensor<16xf32> {
    %c = arith.constant 0.0 : f32
    %init = arith.constant dense<0.0> : tensor<16xf32>
    %w = tensor.empty() : tensor<3xf32>
    %p = tensor.pad %x low[1] high[1] {
    ^bb1(%i: index):
      tensor.yield %c : f32
    } : tensor<16xf32> to tensor<18xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(o, w) -> (o + w)>, affine_map<(o, w) -> (w)>,
                                          affine_map<(o, w) -> (o)>],
                         iterator_types = ["parallel", "reduction"]}
         ins(%p, %w : tensor<18xf32>, tensor<3xf32>) outs(%init : tensor<16xf32>) {
    ^bb0(%in: f32, %size: f32, %out: f32):
      %sum = arith.addf %in, %out : f32
      linalg.yield %sum : f32
    } -> tensor<16xf32>
    return %s : tensor<16xf32>
  }
}

// -----

// In the gradient of the kernel the long loop is the window's: its sum is partial.
// CHECK-LABEL: @kernel_gradient
// CHECK: linalg.generic {{.*}} attrs = {{ *}}{coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}, partial sum ["sp"]>]}
module @kernel_gradient {
  coll.mesh @m ["sp" = 4]
  func.func @step(%x: tensor<18xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>},
                  %g: tensor<16xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>}) -> tensor<3xf32> {
    %init = arith.constant dense<0.0> : tensor<3xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(k, o) -> (k + o)>, affine_map<(k, o) -> (o)>,
                                          affine_map<(k, o) -> (k)>],
                         iterator_types = ["parallel", "reduction"]}
         ins(%x, %g : tensor<18xf32>, tensor<16xf32>) outs(%init : tensor<3xf32>) {
    ^bb0(%in: f32, %grad: f32, %out: f32):
      %product = arith.mulf %in, %grad : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<3xf32>
    return %s : tensor<3xf32>
  }
}

// -----

// Two windows for four ranks: two ranks would have nothing to do.
// CHECK-LABEL: @few_windows
// CHECK: linalg.generic {{.*}} attrs = {{ *}}{coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}>]}
module @few_windows {
  coll.mesh @m ["sp" = 4]
  func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>}) -> tensor<2xf32> {
    %init = arith.constant dense<0.0> : tensor<2xf32>
    %w = tensor.empty() : tensor<2xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(o, w) -> (o * 4 + w)>, affine_map<(o, w) -> (w)>,
                                          affine_map<(o, w) -> (o)>],
                         iterator_types = ["parallel", "reduction"]}
         ins(%x, %w : tensor<8xf32>, tensor<2xf32>) outs(%init : tensor<2xf32>) {
    ^bb0(%in: f32, %size: f32, %out: f32):
      %sum = arith.addf %in, %out : f32
      linalg.yield %sum : f32
    } -> tensor<2xf32>
    return %s : tensor<2xf32>
  }
}

// -----

// Slices, padding and concatenation keep the dimension split that they work along.
// CHECK-LABEL: @shifts
// CHECK: tensor.extract_slice {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\["sp"\]\]}}>]}
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\["sp"\]\]}}>]}
// CHECK: tensor.concat {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\["sp"\]\]}}>]}
// CHECK: tensor.insert_slice {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\["sp"\]\]}}>]}
module @shifts {
  coll.mesh @m ["sp" = 4]
  func.func @step(%x: tensor<16xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>}) -> tensor<32xf32> {
    %c = arith.constant 1.0 : f32
    %s = tensor.extract_slice %x[1] [15] [1] : tensor<16xf32> to tensor<15xf32>
    %p = tensor.pad %s low[0] high[1] {
    ^bb1(%i: index):
      tensor.yield %c : f32
    } : tensor<15xf32> to tensor<16xf32>
    %r = tensor.concat dim(0) %p, %x : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    %q = tensor.insert_slice %s into %r[3] [15] [1] : tensor<15xf32> into tensor<32xf32>
    return %q : tensor<32xf32>
  }
}

// -----

// A roll is one operation, which reads what it moves.
// CHECK-LABEL: @roll
// CHECK: coll.window %[[X:.*]], %[[X]] {
// CHECK: tensor.concat
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\["sp"\]\]}}>]}
module @roll {
  coll.mesh @m ["sp" = 4]
  func.func @step(%x: tensor<16xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>}) -> tensor<16xf32> {
    %a = tensor.extract_slice %x[14] [2] [1] : tensor<16xf32> to tensor<2xf32>
    %b = tensor.extract_slice %x[0] [14] [1] : tensor<16xf32> to tensor<14xf32>
    %r = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<14xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}
