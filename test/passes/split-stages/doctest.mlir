// RUN: coll-opt %s --coll-insert-strategy='mesh=dp=1 strategy=data' --coll-insert-micro-batches=count=2 \
// RUN:   --coll-propagate --coll-insert-reshards --coll-partition --canonicalize --cse \
// RUN:   --coll-split-stages='stages=2 micro-batches=2 schedule=gpipe' --canonicalize --coll-verify-ranks | FileCheck %s
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=1 strategy=data' --coll-insert-micro-batches=count=2 \
// RUN:   --coll-propagate --coll-insert-reshards --coll-partition --canonicalize --cse \
// RUN:   --coll-split-stages='stages=2 micro-batches=4 schedule=gpipe' 2>&1 | FileCheck %s --check-prefix=COUNT

// COUNT: error: has its batch split into 2 micro-batches, but the stages are to run 4; give coll-split-stages micro-batches=2

// CHECK: coll.mesh @mesh ["pp" = 2, "dp" = 1]

// The first stage keeps the first weights and reads the batch.
// CHECK-LABEL: coll.program @stage0 ranks [0]
// CHECK: func.func @step(
// CHECK-SAME: coll.index = 0 : i64, coll.name = "layer_0"
// CHECK-NOT: layer_1
// CHECK-SAME: coll.index = 2 : i64, coll.name = "x"
// CHECK-SAME: -> (tensor<2x3xf32> {{{.*}}coll.index = 0 : i64

// It sends the activations of both micro-batches before it waits for the first gradients.
// CHECK: linalg.matmul
// CHECK: coll.start
// CHECK: coll.send {{.*}} over @mesh["pp"] {coll.why = "activations of stage 0 for stage 1"} : tensor<2x3xf32>
// CHECK: linalg.matmul
// CHECK: coll.send {{.*}} tag 1 over @mesh["pp"]
// CHECK: coll.recv {{.*}} tag 2 over @mesh["pp"] {coll.why = "gradients of stage 1 for stage 0"} : tensor<2x3xf32>
// CHECK: coll.recv {{.*}} tag 3 over @mesh["pp"]

// Gradients add up over the micro-batches; the update follows.
// CHECK: arith.addf {{.*}} : tensor<2x3xf32>
// CHECK: arith.subf {{.*}} : tensor<2x3xf32>
// CHECK: return

// The last stage returns its weights and the loss.
// CHECK-LABEL: coll.program @stage1 ranks [1]
// CHECK: func.func @step(
// CHECK-SAME: coll.index = 1 : i64, coll.name = "layer_1"
// CHECK-SAME: -> (tensor<3x5xf32> {{{.*}}coll.index = 1 : i64{{.*}}}, tensor<f32> {{{.*}}coll.index = 2 : i64
// CHECK: coll.recv {{.*}} over @mesh["pp"] {coll.why = "activations of stage 0 for stage 1"} : tensor<2x3xf32>

func.func @step(%w1: tensor<2x3xf32> {coll.role = "state", coll.name = "layer_0"},
                %w2: tensor<3x5xf32> {coll.role = "state", coll.name = "layer_1"},
                %x: tensor<4x2xf32> {coll.role = "batch", coll.name = "x"})
    -> (tensor<2x3xf32>, tensor<3x5xf32>, tensor<f32> {coll.name = "loss"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %zero_h = arith.constant dense<0.0> : tensor<4x3xf32>
  %zero_y = arith.constant dense<0.0> : tensor<4x5xf32>
  %zero_w1 = arith.constant dense<0.0> : tensor<2x3xf32>
  %zero_w2 = arith.constant dense<0.0> : tensor<3x5xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<4x2xf32>, tensor<2x3xf32>)
                     outs(%zero_h : tensor<4x3xf32>) -> tensor<4x3xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<4x3xf32>, tensor<3x5xf32>)
                     outs(%zero_y : tensor<4x5xf32>) -> tensor<4x5xf32>
  %squares = arith.mulf %y, %y : tensor<4x5xf32>
  %loss = linalg.reduce ins(%squares : tensor<4x5xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1]
    (%in: f32, %out: f32) {
      %sum = arith.addf %in, %out : f32
      linalg.yield %sum : f32
    }
  %dy = arith.addf %y, %y : tensor<4x5xf32>
  %dw2 = linalg.generic {indexing_maps = [affine_map<(i, j, r) -> (r, i)>, affine_map<(i, j, r) -> (r, j)>,
                                          affine_map<(i, j, r) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %dy : tensor<4x3xf32>, tensor<4x5xf32>) outs(%zero_w2 : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  %dh = linalg.generic {indexing_maps = [affine_map<(i, j, r) -> (i, r)>, affine_map<(i, j, r) -> (j, r)>,
                                         affine_map<(i, j, r) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dy, %w2 : tensor<4x5xf32>, tensor<3x5xf32>) outs(%zero_h : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x3xf32>
  %dw1 = linalg.generic {indexing_maps = [affine_map<(i, j, r) -> (r, i)>, affine_map<(i, j, r) -> (r, j)>,
                                          affine_map<(i, j, r) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dh : tensor<4x2xf32>, tensor<4x3xf32>) outs(%zero_w1 : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  %new_w1 = arith.subf %w1, %dw1 : tensor<2x3xf32>
  %new_w2 = arith.subf %w2, %dw2 : tensor<3x5xf32>
  return %new_w1, %new_w2, %loss : tensor<2x3xf32>, tensor<3x5xf32>, tensor<f32>
}
