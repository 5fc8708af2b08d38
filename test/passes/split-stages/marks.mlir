// RUN: coll-opt %s --coll-insert-strategy='mesh=dp=1 strategy=data' --coll-insert-micro-batches=count=2 \
// RUN:   --coll-propagate --coll-insert-reshards --coll-partition --canonicalize --cse \
// RUN:   --coll-split-stages='stages=2 micro-batches=2 schedule=1f1b' --canonicalize --coll-verify-ranks | FileCheck %s
// RUN: sed 's|coll.stage = 1|coll.stage = "last"|' %s | not coll-opt --coll-insert-strategy='mesh=dp=1 strategy=data' \
// RUN:   --coll-insert-micro-batches=count=2 2>&1 | FileCheck %s --check-prefix=WORD

// The mark, which the partitioner drops, is in the location: the first two products are on stage 0,
// where costs would put one.
// CHECK: coll.pipeline =
// CHECK-SAME: micro_batches = 2 : i64
// CHECK-SAME: order = "rank 0: F0.0 F0.1 B0.0 B0.1\0Arank 1: F1.0 B1.0 F1.1 B1.1\0A"
// CHECK-SAME: schedule = "1f1b"
// CHECK-LABEL: coll.program @stage0
// CHECK: coll.name = "layer_0"
// CHECK-SAME: coll.name = "layer_1"
// CHECK-NOT: coll.name = "layer_2"
// CHECK-LABEL: coll.program @stage1
// CHECK: coll.name = "layer_2"
// WORD: error: {{.*}}coll.stage must be the number of a stage, from 0, but is "last"

#lhs = affine_map<(i, j, r) -> (i, r)>
#rhs = affine_map<(i, j, r) -> (r, j)>
#out = affine_map<(i, j, r) -> (i, j)>
#rhsT = affine_map<(i, j, r) -> (j, r)>
#lhsT = affine_map<(i, j, r) -> (r, i)>
#back = {indexing_maps = [#lhs, #rhsT, #out], iterator_types = ["parallel", "parallel", "reduction"]}
#gradient = {indexing_maps = [#lhsT, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}

func.func @step(%w0: tensor<4x4xf32> {coll.role = "state", coll.name = "layer_0"},
                %w1: tensor<4x4xf32> {coll.role = "state", coll.name = "layer_1"},
                %w2: tensor<4x4xf32> {coll.role = "state", coll.name = "layer_2"},
                %x: tensor<4x4xf32> {coll.role = "batch", coll.name = "x"})
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32> {coll.name = "loss"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %zeros = arith.constant dense<0.0> : tensor<4x4xf32>
  %h0 = linalg.matmul ins(%x, %w0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
  %h1 = linalg.matmul {coll.stage = 0} ins(%h0, %w1 : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
  %h2 = linalg.matmul {coll.stage = 1} ins(%h1, %w2 : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
  %squares = arith.mulf %h2, %h2 : tensor<4x4xf32>
  %loss = linalg.reduce ins(%squares : tensor<4x4xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1]
    (%in: f32, %acc: f32) {
      %sum = arith.addf %in, %acc : f32
      linalg.yield %sum : f32
    }
  %g2 = arith.addf %h2, %h2 : tensor<4x4xf32>
  %d2 = linalg.generic #gradient ins(%h1, %g2 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %g1 = linalg.generic #back ins(%g2, %w2 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %d1 = linalg.generic #gradient ins(%h0, %g1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %g0 = linalg.generic #back ins(%g1, %w1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %d0 = linalg.generic #gradient ins(%x, %g0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %new0 = arith.subf %w0, %d0 : tensor<4x4xf32>
  %new1 = arith.subf %w1, %d1 : tensor<4x4xf32>
  %new2 = arith.subf %w2, %d2 : tensor<4x4xf32>
  return %new0, %new1, %new2, %loss : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>
}
