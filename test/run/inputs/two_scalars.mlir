func.func @step(%w: tensor<2xf32> {coll.name = "w", coll.role = "state"},
                %n: tensor<i32> {coll.name = "n", coll.role = "state"},
                %x: tensor<f32> {coll.name = "x", coll.role = "batch"})
    -> (tensor<2xf32>, tensor<i32>, tensor<f32> {coll.name = "first"}, tensor<f32> {coll.name = "second"},
        tensor<2xf32> {coll.name = "vector"}) {
  %y = arith.addf %x, %x : tensor<f32>
  return %w, %n, %x, %y, %w : tensor<2xf32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<2xf32>
}
