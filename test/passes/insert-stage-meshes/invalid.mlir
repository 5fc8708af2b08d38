// DEFINE: %{run} = not coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=3 strategy=data' --coll-insert-micro-batches=count=2

// RUN: %{run} --coll-insert-stage-meshes='stages=2 micro-batches=2 stage-mesh=dp=6' 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: mesh 'dp=6' of a stage is not of the form 'NUMBER: AXIS=SIZE,…'
// RUN: %{run} --coll-insert-stage-meshes='stages=2 micro-batches=2 stage-mesh=0:dp=x' 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: mesh '0:dp=x' of a stage is not of the form 'NUMBER: AXIS=SIZE,…'
// RUN: %{run} --coll-insert-stage-meshes='stages=2 micro-batches=2 stage-mesh=2:dp=6' 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: error: mesh '2:dp=6' is for none of the 2 stages that there are, 0 to 1
// RUN: %{run} --coll-insert-stage-meshes='stages=2 micro-batches=2 stage-mesh=0:dp=3' 2>&1 | FileCheck %s --check-prefix=FIT
// FIT: error: mesh '0:dp=3' does not fit the mesh dp=2,tp=3 of a stage: axis "dp" has to join neighbouring axes of it, in order
// RUN: %{run} --coll-insert-stage-meshes='stages=2 micro-batches=2 stage-mesh=0:dp=2' 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: mesh '0:dp=2' leaves ranks of the mesh dp=2,tp=3 out; give it as many
// RUN: %{run} --coll-insert-stage-meshes='stages=2 micro-batches=2 stage-mesh=0:dp=6 stage-mesh=0:tp=6' 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: stage 0 has two meshes; leave one out
// RUN: %{run} --coll-insert-stage-meshes='stages=2 micro-batches=2 stage-mesh=0:dp=6' 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: has micro-batches of 2 rows, which the mesh of stage 0 splits into 3 unequal parts; choose a mesh or a number of micro-batches with which they are equal
// RUN: not coll-opt %s --coll-insert-stage-meshes='stages=2 stage-mesh=0:dp=6' 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: error: has no batch split over micro-batches (coll-insert-micro-batches)
// RUN: not coll-opt %S/../insert-micro-batches/invalid.mlir --split-input-file --coll-insert-stage-meshes='stages=2 stage-mesh=0:dp=6' 2>&1 | FileCheck %s --check-prefix=TIME

func.func @step(%w1: tensor<2x3xf32> {coll.role = "state", coll.name = "layer_0"},
                %w2: tensor<3x5xf32> {coll.role = "state", coll.name = "layer_1"},
                %x: tensor<6x2xf32> {coll.role = "batch", coll.name = "x"})
    -> (tensor<2x3xf32>, tensor<3x5xf32>, tensor<f32> {coll.name = "loss"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %zero_h = arith.constant dense<0.0> : tensor<6x3xf32>
  %zero_y = arith.constant dense<0.0> : tensor<6x5xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<6x2xf32>, tensor<2x3xf32>)
                     outs(%zero_h : tensor<6x3xf32>) -> tensor<6x3xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<6x3xf32>, tensor<3x5xf32>)
                     outs(%zero_y : tensor<6x5xf32>) -> tensor<6x5xf32>
  %loss = linalg.reduce ins(%y : tensor<6x5xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1]
    (%in: f32, %out: f32) {
      %sum = arith.addf %in, %out : f32
      linalg.yield %sum : f32
    }
  %zero_1 = arith.constant dense<0.0> : tensor<2x3xf32>
  %zero_2 = arith.constant dense<0.0> : tensor<3x5xf32>
  %n1 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
                                         affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %h : tensor<6x2xf32>, tensor<6x3xf32>) outs(%zero_1 : tensor<2x3xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
  } -> tensor<2x3xf32>
  %n2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
                                         affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%h, %y : tensor<6x3xf32>, tensor<6x5xf32>) outs(%zero_2 : tensor<3x5xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
  } -> tensor<3x5xf32>
  return %n1, %n2, %loss : tensor<2x3xf32>, tensor<3x5xf32>, tensor<f32>
}
