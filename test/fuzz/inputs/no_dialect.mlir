func.func @step(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = math.tanh %x : tensor<64xf32>
  %b = math.tanh %y : tensor<64xf32>
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}
