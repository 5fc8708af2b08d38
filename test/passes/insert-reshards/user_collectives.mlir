// RUN: coll-opt %s --split-input-file --coll-propagate --coll-insert-reshards --coll-partition | FileCheck %s

// A reduction that the user wrote takes the contributions: none is inserted.
// CHECK-LABEL: @suppressed
// CHECK-COUNT-1: coll.all_reduce
// CHECK-NOT: coll.all_reduce
// CHECK: return
module @suppressed {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>}) -> tensor<4xf32> {
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
    %r = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
    %s = arith.mulf %r, %r : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// Other collectives are run as written, on whole values.
// CHECK-LABEL: @verbatim
// CHECK: coll.broadcast %{{.*}} from 1 over @m["dp"] : tensor<4xf32>
module @verbatim {
  coll.mesh @m ["dp" = 2]
  func.func @step(%w: tensor<4xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) -> tensor<4xf32> {
    %r = coll.broadcast %w from 1 over @m["dp"] : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
