// DEFINE: %{l1} = --coll-insert-strategy='mesh=dp=2 strategy=data' --coll-insert-micro-batches=count=2
// RUN: coll-opt %s %{l1} --coll-mark-stages='stages=2 micro-batches=2' --mlir-print-debuginfo | FileCheck %s
// RUN: coll-opt %s %{l1} --coll-mark-stages='stages=2 micro-batches=2' --coll-place-roots 2>&1 | FileCheck %s --check-prefix=ROOTS

// The forward pass is cut, and each update belongs to the stage that reads its parameter.
// CHECK: linalg.matmul {{.*}} loc(#[[FIRST:loc[0-9]*]])
// CHECK: linalg.matmul {{.*}} loc(#[[SECOND:loc[0-9]*]])
// CHECK: coll.root_update
// CHECK: } {coll.stage = 0 : i64}
// CHECK: coll.root_update
// CHECK: } {coll.stage = 1 : i64}
// CHECK: #[[ZERO:loc[0-9]*]] = loc("coll.stage:0/linalg.matmul")
// CHECK: #[[ONE:loc[0-9]*]] = loc("coll.stage:1/linalg.matmul")
// CHECK: #[[FIRST]] = loc(fused[{{.*}}#[[ZERO]]])
// CHECK: #[[SECOND]] = loc(fused[{{.*}}#[[ONE]]])

// So each stage has a bucket.
// ROOTS: remark: root=balanced, stage 0: 1 parameters with 18 elements
// ROOTS: remark: root=balanced, stage 1: 1 parameters with 15 elements

// RUN: not coll-opt %s --coll-mark-stages=stages=2 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: error: returns no loss (a scalar that is a sum over the batch)
// RUN: not coll-opt %s %{l1} --coll-mark-stages='stages=3 micro-batches=2' 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: cannot be cut into 3 stages: only 2 operations of its forward pass read parameters; use fewer stages
// RUN: not coll-opt %s %{l1} --coll-mark-stages='stages=2 schedule=fast' 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: schedule 'fast' is unknown

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
  %n1 = coll.root_update grad(%dw1 : tensor<6x3xf32>) state(%w1 : tensor<6x3xf32>) forward 1 root balanced route direct {
  ^bb0(%g: f32, %w: f32):
    %next = arith.subf %w, %g : f32
    coll.yield %next : f32
  }
  %n2 = coll.root_update grad(%dw2 : tensor<3x5xf32>) state(%w2 : tensor<3x5xf32>) forward 1 root balanced route direct {
  ^bb0(%g: f32, %w: f32):
    %next = arith.subf %w, %g : f32
    coll.yield %next : f32
  }
  return %n1, %n2, %loss : tensor<6x3xf32>, tensor<3x5xf32>, tensor<f32>
}
