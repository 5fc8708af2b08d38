  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<7xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>},
                  %y: tensor<7xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %r = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>],
                         iterator_types = ["reduction"]}
         ins(%x, %y : tensor<7xf32>, tensor<7xf32>) outs(%zero : tensor<f32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %one = arith.constant 1.0 : f32
      %a1 = arith.addf %a, %one : f32
      %b1 = arith.addf %b, %one : f32
      %m = arith.mulf %a1, %b1 : f32
      %s = arith.addf %out, %m : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    return %r : tensor<f32>
  }
