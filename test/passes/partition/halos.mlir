// RUN: coll-opt %s --split-input-file --coll-propagate --coll-insert-reshards --coll-partition --canonicalize --cse | FileCheck %s

// Each rank sends its first and its last element; outer ranks receive zeros, which are the padding.
// CHECK-LABEL: @sum_of_three
// CHECK: %[[LAST:.*]] = tensor.extract_slice %[[X:.*]][3] [1] [1]
// CHECK: coll.permute %[[LAST]] shift 1 over @m["sp"]
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[X]][0] [1] [1]
// CHECK: coll.permute %[[FIRST]] shift -1 over @m["sp"]
// CHECK-NOT: arith.select
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<6xf32>, tensor<3xf32>)
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

// Seven elements over two ranks: the maximum must not see the eighth, nor zeros at the ends.
// CHECK-LABEL: @uneven_maximum
// CHECK: coll.permute
// CHECK: linalg.generic
// CHECK: arith.cmpi ult
// CHECK: arith.select
// CHECK: arith.maximumf
module @uneven_maximum {
  coll.mesh @m ["sp" = 2]
  func.func @step(%x: tensor<7xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>}) -> tensor<7xf32> {
    %c = arith.constant 0xFF800000 : f32
    %init = arith.constant dense<0xFF800000> : tensor<7xf32>
    %w = tensor.empty() : tensor<3xf32>
    %p = tensor.pad %x low[1] high[1] {
    ^bb1(%i: index):
      tensor.yield %c : f32
    } : tensor<7xf32> to tensor<9xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(o, w) -> (o + w)>, affine_map<(o, w) -> (w)>,
                                          affine_map<(o, w) -> (o)>],
                         iterator_types = ["parallel", "reduction"]}
         ins(%p, %w : tensor<9xf32>, tensor<3xf32>) outs(%init : tensor<7xf32>) {
    ^bb0(%in: f32, %size: f32, %out: f32):
      %max = arith.maximumf %out, %in : f32
      linalg.yield %max : f32
    } -> tensor<7xf32>
    return %s : tensor<7xf32>
  }
}

// -----

// A shift by one sends one element.
// CHECK-LABEL: @shift
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %{{.*}}[0] [1] [1]
// CHECK: coll.permute %[[FIRST]] shift -1
// CHECK-NOT: coll.permute
// CHECK-NOT: coll.all_gather
// CHECK: return
module @shift {
  coll.mesh @m ["sp" = 4]
  func.func @step(%x: tensor<16xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>}) -> tensor<16xf32> {
    %c = arith.constant 0.0 : f32
    %s = tensor.extract_slice %x[1] [15] [1] : tensor<16xf32> to tensor<15xf32>
    %p = tensor.pad %s low[0] high[1] {
    ^bb1(%i: index):
      tensor.yield %c : f32
    } : tensor<15xf32> to tensor<16xf32>
    return %p : tensor<16xf32>
  }
}

// -----

// In two rounds each rank sends its block of both halves and receives two.
// CHECK-LABEL: @halves
// CHECK-COUNT-2: coll.permute
// CHECK-NOT: coll.permute
// CHECK: return
module @halves {
  coll.mesh @m ["dp" = 8]
  func.func @step(%x: tensor<64x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %y: tensor<64x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<128x4xf32> {
    %r = tensor.concat dim(0) %x, %y : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<128x4xf32>
    return %r : tensor<128x4xf32>
  }
}

// -----

// A window over all of a neighbour's block joins the blocks.
// CHECK-LABEL: @global_window
// CHECK: coll.all_gather
// CHECK-NOT: coll.permute
module @global_window {
  coll.mesh @m ["sp" = 2]
  func.func @step(%x: tensor<16xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>}) -> tensor<16xf32> {
    %c = arith.constant 0.0 : f32
    %init = arith.constant dense<0.0> : tensor<16xf32>
    %w = tensor.empty() : tensor<15xf32>
    %p = tensor.pad %x low[14] high[0] {
    ^bb1(%i: index):
      tensor.yield %c : f32
    } : tensor<16xf32> to tensor<30xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(o, w) -> (o + w)>, affine_map<(o, w) -> (w)>,
                                          affine_map<(o, w) -> (o)>],
                         iterator_types = ["parallel", "reduction"]}
         ins(%p, %w : tensor<30xf32>, tensor<15xf32>) outs(%init : tensor<16xf32>) {
    ^bb0(%in: f32, %size: f32, %out: f32):
      %sum = arith.addf %in, %out : f32
      linalg.yield %sum : f32
    } -> tensor<16xf32>
    return %s : tensor<16xf32>
  }
}

// -----

// A roll sends what it moves, once around.
// CHECK-LABEL: @roll
// CHECK: coll.permute {{.*}} shift 1 wraps over @m["sp"] {{.*}}: tensor<2xf32>
// CHECK-NOT: coll.permute
// CHECK: return
module @roll {
  coll.mesh @m ["sp" = 4]
  func.func @step(%x: tensor<16xf32> {coll.sharding = #coll.sharding<@m, [["sp"]]>}) -> tensor<16xf32> {
    %a = tensor.extract_slice %x[14] [2] [1] : tensor<16xf32> to tensor<2xf32>
    %b = tensor.extract_slice %x[0] [14] [1] : tensor<16xf32> to tensor<14xf32>
    %r = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<14xf32>) -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}

// -----

// The long loop of a kernel's gradient is the window's: what a rank sums needs neighbours, too.
// CHECK-LABEL: @kernel_gradient
// CHECK: coll.permute
// CHECK: linalg.generic
// CHECK: coll.all_reduce sum
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
