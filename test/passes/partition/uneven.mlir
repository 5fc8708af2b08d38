// RUN: coll-opt %s --split-input-file --coll-propagate --coll-insert-reshards --coll-partition --canonicalize | FileCheck %s

// Seven rows over two ranks: the eighth is padding and takes no part in the maximum.
// CHECK-LABEL: @maximum
// CHECK-DAG: %[[SEVEN:.*]] = arith.constant 7 : index
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[I:.*]] = coll.axis_index @m["dp"]
// CHECK: %[[OFFSET:.*]] = arith.muli %[[I]], %[[FOUR]]
// CHECK: linalg.generic
// CHECK: ^bb0(%[[IN:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK: %[[NEW:.*]] = arith.maximumf
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[POSITION:.*]] = arith.addi %[[ROW]], %[[OFFSET]]
// CHECK: %[[VALID:.*]] = arith.cmpi slt, %[[POSITION]], %[[SEVEN]]
// CHECK: %[[KEPT:.*]] = arith.select %[[VALID]], %[[NEW]], %[[OLD]]
// CHECK: linalg.yield %[[KEPT]]
// CHECK: coll.all_reduce max
module @maximum {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<7x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>}) -> tensor<4xf32> {
    %low = arith.constant dense<0xFF800000> : tensor<4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                         iterator_types = ["reduction", "parallel"]}
         ins(%x : tensor<7x4xf32>) outs(%low : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.maximumf %out, %in : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

// Both factors of a product are masked: zero times the other's padding may be NaN.
// CHECK-LABEL: @product
// CHECK-COUNT-2: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: arith.mulf
module @product {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<7x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %y: tensor<7x3xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>}) -> tensor<4x3xf32> {
    %zero = arith.constant dense<0.0> : tensor<4x3xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
                                          affine_map<(i, j, k) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x, %y : tensor<7x4xf32>, tensor<7x3xf32>) outs(%zero : tensor<4x3xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %out, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x3xf32>
    return %r : tensor<4x3xf32>
  }
}

// -----

// Padded updates are neutral.
// CHECK-LABEL: @updates
// CHECK: %[[MASKED:.*]] = linalg.generic
// CHECK: coll.accumulate %[[MASKED]] into
module @updates {
  coll.mesh @m ["dp" = 2]
  func.func @step(%u: tensor<7x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                  %ids: tensor<7x1xi32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<3x4xf32> {
    %zero = arith.constant dense<0.0> : tensor<3x4xf32>
    %g = coll.accumulate %u into %zero[%ids] window_dims [1] inserted_dims [0] index_map [0] {
    ^bb0(%current: f32, %update: f32):
      %s = arith.addf %current, %update : f32
      coll.yield %s : f32
    } : tensor<7x4xf32>, tensor<3x4xf32>, tensor<7x1xi32>
    return %g : tensor<3x4xf32>
  }
}

// -----

// A product of sums is not zero where its inputs are: its iterations are masked, not they.
// CHECK-LABEL: @product_of_sums
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.index
// CHECK: arith.select
// CHECK: linalg.yield
module @product_of_sums {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<7xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>},
                  %y: tensor<7xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %r = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>],
                         iterator_types = ["reduction"]}
         ins(%x, %y : tensor<7xf32>, tensor<7xf32>) outs(%zero : tensor<f32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %one = arith.constant 1.0 : f32
      %a1 = arith.addf %a, %one : f32
      %b1 = arith.addf %b, %one : f32
      %m = arith.mulf %a1, %b1 : f32
      %s = arith.addf %out, %m : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    return %r : tensor<f32>
  }
}
