// A sum over rows, broadcast back.
func.func @step(%w: tensor<256xf32> {coll.role = "state", coll.name = "w"},
                %x: tensor<4096x256xf32> {coll.role = "batch", coll.name = "x"})
    -> tensor<256xf32> {
  %s = arith.mulf %x, %x : tensor<4096x256xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<4096x256xf32>) outs(%w : tensor<256xf32>) dimensions = [0]
  return %sum : tensor<256xf32>
}
