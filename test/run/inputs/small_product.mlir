// A product and an elementwise operation.
func.func @step(%w: tensor<512x512xf32> {coll.role = "state", coll.name = "w"},
                %x: tensor<512x512xf32> {coll.role = "batch", coll.name = "x"})
    -> tensor<512x512xf32> {
  %e = tensor.empty() : tensor<512x512xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>)
                     outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = arith.addf %w, %y : tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
