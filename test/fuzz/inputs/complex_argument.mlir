func.func @step(%x: tensor<1xcomplex<f32>>) {
  %c0 = arith.constant 0 : index
  %rank = coll.rank
  return
}
