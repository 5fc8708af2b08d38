// RUN: coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 strategy=data' --coll-insert-micro-batches=count=2 \
// RUN:   --coll-insert-stage-meshes='stages=2 micro-batches=2 stage-mesh=0:dp=4' | FileCheck %s
// RUN: coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 strategy=data' --coll-insert-micro-batches=count=2 \
// RUN:   --coll-insert-stage-meshes='stages=2 micro-batches=2 stage-mesh=0:dp=4' \
// RUN:   --coll-propagate --coll-insert-reshards --coll-partition --canonicalize --cse \
// RUN:   --coll-split-stages='stages=2 micro-batches=2' --canonicalize --coll-verify-ranks \
// RUN:   | FileCheck %s --check-prefix=STAGES

// Stage 0 splits its rows over both axes, stage 1 over one: the rows are pinned between them, and so
// are the gradients on the way back. Arguments have the rows that both need.
// CHECK: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x6xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #coll.sharding<@mesh, {{\[\["dp", "mb"\], \[\]\]}}>}
// CHECK: %[[S:.*]] = coll.reshard %[[X]] from <@mesh, {{.*}}> to <@mesh, {{\[\["dp", "mb", "tp"\], \[\]\]}}> {coll.pin = {open_dims = array<i64: 1>, replicated = []}, coll.why = "stage 0 has a mesh of its own"}
// CHECK: %[[H:.*]] = linalg.matmul ins(%[[S]]
// CHECK: %[[P:.*]] = coll.reshard %[[H]] from <@mesh, {{.*}}> to <@mesh, {{\[\["dp", "mb"\], \[\]\]}}> {{.*}}"stage 1 has a mesh of its own"
// CHECK: linalg.matmul ins(%[[P]]
// CHECK: %[[DH:.*]] = linalg.matmul {{.*}} -> tensor<8x3xf32>
// CHECK: coll.reshard %[[DH]] from <@mesh, {{.*}}> to <@mesh, {{\[\["dp", "mb", "tp"\], \[\]\]}}>{{.*}}"stage 0 has a mesh of its own"

// Each rank of stage 1 gathers the rows that two ranks of stage 0 have made.
// STAGES-LABEL: coll.program @stage0
// STAGES: coll.send {{.*}} {coll.why = "activations of stage 0 for stage 1"} : tensor<1x3xf32>
// STAGES-LABEL: coll.program @stage1
// STAGES: coll.recv {{.*}} {coll.why = "activations of stage 0 for stage 1"} : tensor<1x3xf32>
// STAGES: coll.all_gather {{.*}} over @mesh["tp"] {coll.why = "stage 1 has a mesh of its own"} : tensor<1x3xf32> -> tensor<2x3xf32>

func.func @step(%w1: tensor<6x3xf32> {coll.role = "state", coll.name = "layer_0"},
                %w2: tensor<3x5xf32> {coll.role = "state", coll.name = "layer_1"},
                %x: tensor<8x6xf32> {coll.role = "batch", coll.name = "x"},
                %t: tensor<8x5xf32> {coll.role = "batch", coll.name = "t"})
    -> (tensor<6x3xf32>, tensor<3x5xf32>, tensor<f32> {coll.name = "loss"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %zero_h = arith.constant dense<0.0> : tensor<8x3xf32>
  %zero_y = arith.constant dense<0.0> : tensor<8x5xf32>
  %zero_w1 = arith.constant dense<0.0> : tensor<6x3xf32>
  %zero_w2 = arith.constant dense<0.0> : tensor<3x5xf32>
  %zero_w2t = arith.constant dense<0.0> : tensor<5x3xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<8x6xf32>, tensor<6x3xf32>)
                     outs(%zero_h : tensor<8x3xf32>) -> tensor<8x3xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<8x3xf32>, tensor<3x5xf32>)
                     outs(%zero_y : tensor<8x5xf32>) -> tensor<8x5xf32>
  %d = arith.subf %y, %t : tensor<8x5xf32>
  %squares = arith.mulf %d, %d : tensor<8x5xf32>
  %loss = linalg.reduce ins(%squares : tensor<8x5xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1]
    (%in: f32, %out: f32) {
      %sum = arith.addf %in, %out : f32
      linalg.yield %sum : f32
    }
  %dy = arith.addf %d, %d : tensor<8x5xf32>
  %w2t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
    ins(%w2 : tensor<3x5xf32>) outs(%zero_w2t : tensor<5x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
  } -> tensor<5x3xf32>
  %dh = linalg.matmul ins(%dy, %w2t : tensor<8x5xf32>, tensor<5x3xf32>)
                      outs(%zero_h : tensor<8x3xf32>) -> tensor<8x3xf32>
  %dw2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
                                          affine_map<(i, j, k) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%h, %dy : tensor<8x3xf32>, tensor<8x5xf32>) outs(%zero_w2 : tensor<3x5xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
  } -> tensor<3x5xf32>
  %dw1 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
                                          affine_map<(i, j, k) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %dh : tensor<8x6xf32>, tensor<8x3xf32>) outs(%zero_w1 : tensor<6x3xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
  } -> tensor<6x3xf32>
  %n1 = arith.subf %w1, %dw1 : tensor<6x3xf32>
  %n2 = arith.subf %w2, %dw2 : tensor<3x5xf32>
  return %n1, %n2, %loss : tensor<6x3xf32>, tensor<3x5xf32>, tensor<f32>
}
