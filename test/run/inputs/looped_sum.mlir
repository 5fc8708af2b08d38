// A loop of 5 iterations, each with a sum over the rows that its ranks have.
func.func @step(%w: tensor<f32> {coll.name = "w", coll.role = "state"},
                %x: tensor<8xf32> {coll.name = "x", coll.role = "batch"}) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<8xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %w) -> tensor<f32> {
    %scaled = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> ()>, affine_map<(n) -> (n)>],
                              iterator_types = ["parallel"]}
        ins(%x, %a : tensor<8xf32>, tensor<f32>) outs(%empty : tensor<8xf32>) {
    ^bb0(%in: f32, %by: f32, %out: f32):
      %p = arith.mulf %in, %by : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    %sum = linalg.reduce { arith.addf } ins(%scaled : tensor<8xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %next = math.tanh %sum : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %r : tensor<f32>
}
