// Each row counts as often as its number in the batch says.
func.func @step(%w: tensor<4xf32> {coll.name = "w", coll.role = "state"},
                %x: tensor<12x4xf32> {coll.name = "x", coll.role = "batch"}) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, n) -> (n, c)>, affine_map<(c, n) -> (c)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<12x4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %row = linalg.index 1 : index
    %number = arith.index_cast %row : index to i32
    %weight = arith.sitofp %number : i32 to f32
    %p = arith.mulf %in, %weight : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %r = arith.subf %w, %g : tensor<4xf32>
  return %r : tensor<4xf32>
}
