// A training step for one device, distributed by the compiler: linear regression by gradient
// descent. Nothing below mentions ranks.
//
//   coll-run examples/03_data_parallel.mlir --ranks=4 --steps=40 --check --print
//
// Arguments have a role: "state" is replaced by the result of the same number and stays on the ranks;
// "batch" comes anew with each step and is split over the ranks along its first dimension. The
// gradient and the loss sum over the batch, so the compiler adds one all_reduce for each. See it
// in the files that --dump-stages=DIR writes. Without --data the inputs are made up; the targets
// are computed from them, so there is something to learn: w approaches [1, -2, 3].

#scalar = affine_map<(b) -> ()>
#vector = affine_map<(b) -> (b)>

func.func @step(%w: tensor<3xf32> {coll.role = "state", coll.name = "w"},
                %x: tensor<24x3xf32> {coll.role = "batch", coll.name = "x"})
    -> (tensor<3xf32> {coll.name = "w"}, tensor<f32> {coll.name = "loss"}) {
  %truth = arith.constant dense<[1.0, -2.0, 3.0]> : tensor<3xf32>
  %zero_batch = arith.constant dense<0.0> : tensor<24xf32>
  %zero_w = arith.constant dense<0.0> : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %rate = arith.constant dense<0.02> : tensor<3xf32>

  // The error on each example: x w - x truth.
  %delta = arith.subf %w, %truth : tensor<3xf32>
  %error = linalg.matvec ins(%x, %delta : tensor<24x3xf32>, tensor<3xf32>)
                         outs(%zero_batch : tensor<24xf32>) -> tensor<24xf32>

  // Half the sum of squares, and its gradient x^T error.
  %squares = arith.mulf %error, %error : tensor<24xf32>
  %sum = linalg.generic {indexing_maps = [#vector, #scalar], iterator_types = ["reduction"]}
      ins(%squares : tensor<24xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %acc, %in : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %half = arith.constant dense<0.5> : tensor<f32>
  %loss = arith.mulf %sum, %half : tensor<f32>
  %gradient = linalg.vecmat ins(%error, %x : tensor<24xf32>, tensor<24x3xf32>)
                            outs(%zero_w : tensor<3xf32>) -> tensor<3xf32>

  %step = arith.mulf %gradient, %rate : tensor<3xf32>
  %updated = arith.subf %w, %step : tensor<3xf32>
  return %updated, %loss : tensor<3xf32>, tensor<f32>
}

// CHECK: 4 ranks, 40 steps
// CHECK: 2 of 2 within tolerance
// CHECK: w: f32[3] = [{{(1|1\.0[0-9]*|0\.9[0-9]*)}}, {{-(2|2\.0[0-9]*|1\.9[0-9]*)}}, {{(3|3\.0[0-9]*|2\.9[0-9]*)}}]
