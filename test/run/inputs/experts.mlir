// Eight experts of two products, each with tokens of its own, trained on the sum of squares with momentum.
#ecd = affine_map<(e, c, d, f) -> (e, c, d)>
#ecf = affine_map<(e, c, d, f) -> (e, c, f)>
#edf = affine_map<(e, c, d, f) -> (e, d, f)>
func.func @step(%w: tensor<8x64x128xf32> {coll.role = "state", coll.name = "params/w"},
                %v: tensor<8x64x128xf32> {coll.role = "state", coll.name = "params/v"},
                %mw: tensor<8x64x128xf32> {coll.role = "state", coll.name = "momentum/w"},
                %mv: tensor<8x64x128xf32> {coll.role = "state", coll.name = "momentum/v"},
                %x: tensor<32x8x64xf32> {coll.role = "batch", coll.name = "x"})
    -> (tensor<8x64x128xf32>, tensor<8x64x128xf32>, tensor<8x64x128xf32>, tensor<8x64x128xf32>, tensor<f32>) {
  %zero_t = arith.constant dense<0.0> : tensor<8x32x64xf32>
  %zero_h = arith.constant dense<0.0> : tensor<8x32x128xf32>
  %zero_w = arith.constant dense<0.0> : tensor<8x64x128xf32>
  %none = arith.constant dense<0.0> : tensor<f32>
  %keep = arith.constant dense<0.9> : tensor<8x64x128xf32>
  %rate = arith.constant dense<1.0e-6> : tensor<8x64x128xf32>
  %empty = tensor.empty() : tensor<8x32x64xf32>
  %t = linalg.transpose ins(%x : tensor<32x8x64xf32>) outs(%empty : tensor<8x32x64xf32>) permutation = [1, 0, 2]
  %h = linalg.generic {indexing_maps = [#ecd, #edf, #ecf], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
       ins(%t, %w : tensor<8x32x64xf32>, tensor<8x64x128xf32>) outs(%zero_h : tensor<8x32x128xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  } -> tensor<8x32x128xf32>
  %y = linalg.generic {indexing_maps = [#ecf, #edf, #ecd], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
       ins(%h, %v : tensor<8x32x128xf32>, tensor<8x64x128xf32>) outs(%zero_t : tensor<8x32x64xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  } -> tensor<8x32x64xf32>
  %squares = arith.mulf %y, %y : tensor<8x32x64xf32>
  %loss = linalg.reduce { arith.addf } ins(%squares : tensor<8x32x64xf32>) outs(%none : tensor<f32>) dimensions = [0, 1, 2]
  %dh = linalg.generic {indexing_maps = [#ecd, #edf, #ecf], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
        ins(%y, %v : tensor<8x32x64xf32>, tensor<8x64x128xf32>) outs(%zero_h : tensor<8x32x128xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  } -> tensor<8x32x128xf32>
  %dv = linalg.generic {indexing_maps = [#ecd, #ecf, #edf], iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
        ins(%y, %h : tensor<8x32x64xf32>, tensor<8x32x128xf32>) outs(%zero_w : tensor<8x64x128xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  } -> tensor<8x64x128xf32>
  %dw = linalg.generic {indexing_maps = [#ecd, #ecf, #edf], iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
        ins(%t, %dh : tensor<8x32x64xf32>, tensor<8x32x128xf32>) outs(%zero_w : tensor<8x64x128xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %n = arith.addf %o, %p : f32
    linalg.yield %n : f32
  } -> tensor<8x64x128xf32>
  %kw = arith.mulf %mw, %keep : tensor<8x64x128xf32>
  %kv = arith.mulf %mv, %keep : tensor<8x64x128xf32>
  %nw = arith.addf %kw, %dw : tensor<8x64x128xf32>
  %nv = arith.addf %kv, %dv : tensor<8x64x128xf32>
  %sw = arith.mulf %nw, %rate : tensor<8x64x128xf32>
  %sv = arith.mulf %nv, %rate : tensor<8x64x128xf32>
  %w1 = arith.subf %w, %sw : tensor<8x64x128xf32>
  %v1 = arith.subf %v, %sv : tensor<8x64x128xf32>
  return %w1, %v1, %nw, %nv, %loss : tensor<8x64x128xf32>, tensor<8x64x128xf32>, tensor<8x64x128xf32>, tensor<8x64x128xf32>, tensor<f32>
}
