// What examples/05_mixture_of_experts.mlir computes, for one device and without an exchange: every
// expert on every token, times a gate that is 0 but for the two best.

#row = affine_map<(t, e) -> (t)>
#both = affine_map<(t, e) -> (t, e)>

func.func @step(
    %x: tensor<24x8xf32> {coll.role = "state", coll.name = "x"},
    %router: tensor<8x12xf32> {coll.role = "batch", coll.name = "router"},
    %w_in: tensor<12x8x16xf32> {coll.role = "batch", coll.name = "w_in"},
    %w_out: tensor<12x16x8xf32> {coll.role = "batch", coll.name = "w_out"})
    -> (tensor<24x8xf32> {coll.name = "x"}, tensor<12xi32> {coll.name = "load"}) {
  %zero = arith.constant 0.0 : f32
  %zero_scores = arith.constant dense<0.0> : tensor<24x12xf32>
  %zero_tokens = arith.constant dense<0.0> : tensor<24xf32>
  %zero_load = arith.constant dense<0> : tensor<12xi32>
  %zero_y = arith.constant dense<0.0> : tensor<24x8xf32>
  %zero_inner = arith.constant dense<0.0> : tensor<12x24x16xf32>
  %lowest_tokens = arith.constant dense<0xFF800000> : tensor<24xf32>

  // Two scores are above or at the second best.
  %scores = linalg.matmul ins(%x, %router : tensor<24x8xf32>, tensor<8x12xf32>) outs(%zero_scores : tensor<24x12xf32>) -> tensor<24x12xf32>
  %best = linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}
      ins(%scores : tensor<24x12xf32>) outs(%lowest_tokens : tensor<24xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %m = arith.maximumf %in, %acc : f32
    linalg.yield %m : f32
  } -> tensor<24xf32>
  %second = linalg.generic {indexing_maps = [#both, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%scores, %best : tensor<24x12xf32>, tensor<24xf32>) outs(%lowest_tokens : tensor<24xf32>) {
  ^bb0(%in: f32, %b: f32, %acc: f32):
    %below = arith.cmpf olt, %in, %b : f32
    %m = arith.maximumf %in, %acc : f32
    %r = arith.select %below, %m, %acc : f32
    linalg.yield %r : f32
  } -> tensor<24xf32>
  %exponentials = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}
      ins(%scores, %second : tensor<24x12xf32>, tensor<24xf32>) outs(%zero_scores : tensor<24x12xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %chosen = arith.cmpf oge, %in, %s : f32
    %e = math.exp %in : f32
    %r = arith.select %chosen, %e, %zero : f32
    linalg.yield %r : f32
  } -> tensor<24x12xf32>
  %sums = linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exponentials : tensor<24x12xf32>) outs(%zero_tokens : tensor<24xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %acc, %in : f32
    linalg.yield %s : f32
  } -> tensor<24xf32>
  %load = linalg.generic {indexing_maps = [affine_map<(e, t) -> (t, e)>, affine_map<(e, t) -> (e)>], iterator_types = ["parallel", "reduction"]}
      ins(%exponentials : tensor<24x12xf32>) outs(%zero_load : tensor<12xi32>) {
  ^bb0(%in: f32, %acc: i32):
    %chosen = arith.cmpf ogt, %in, %zero : f32
    %one = arith.extui %chosen : i1 to i32
    %s = arith.addi %acc, %one : i32
    linalg.yield %s : i32
  } -> tensor<12xi32>

  %product = linalg.generic {
      indexing_maps = [affine_map<(e, t, f, h) -> (t, h)>, affine_map<(e, t, f, h) -> (e, h, f)>, affine_map<(e, t, f, h) -> (e, t, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w_in : tensor<24x8xf32>, tensor<12x8x16xf32>) outs(%zero_inner : tensor<12x24x16xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<12x24x16xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(t, h, e, f) -> (e, t, f)>, affine_map<(t, h, e, f) -> (e, f, h)>, affine_map<(t, h, e, f) -> (t, e)>,
                       affine_map<(t, h, e, f) -> (t)>, affine_map<(t, h, e, f) -> (t, h)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%product, %w_out, %exponentials, %sums : tensor<12x24x16xf32>, tensor<12x16x8xf32>, tensor<24x12xf32>, tensor<24xf32>)
      outs(%zero_y : tensor<24x8xf32>) {
  ^bb0(%inner: f32, %w: f32, %e: f32, %sum: f32, %acc: f32):
    %relu = arith.maximumf %inner, %zero : f32
    %p = arith.mulf %relu, %w : f32
    %gate = arith.divf %e, %sum : f32
    %g = arith.mulf %p, %gate : f32
    %s = arith.addf %acc, %g : f32
    linalg.yield %s : f32
  } -> tensor<24x8xf32>
  return %y, %load : tensor<24x8xf32>, tensor<12xi32>
}
