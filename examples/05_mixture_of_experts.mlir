// A layer of a mixture of experts, written by hand: twelve experts on four ranks, two for each
// token. A token goes to the ranks that have its experts, and their results come back.
//
//   coll-run examples/05_mixture_of_experts.mlir --print
//
// Each rank has a quarter of the tokens, which are its state, and three experts. coll.dispatch brings tokens to experts;
// how many a rank gets is known only when it runs, so the rows have room for all 24 tokens, and those
// behind the last are zero. %route says where tokens went: its type has the group, the tokens and
// the capacity, so that a coll.combine can only take the route of a dispatch that fits it. At run time
// every token is accounted for: all rows that are sent to an expert arrive there.

!tokens = tensor<6x8xf32>          // of a rank
!scores = tensor<6x12xf32>
!numbers = tensor<6x12xi32>
!choice = tensor<6x2xi32>
!weights = tensor<6x2xf32>
!sums = tensor<6xf32>
!rows = tensor<24x8xf32>           // that a rank may receive
!row_experts = tensor<24x2xi32>
!row_weights = tensor<24x2xf32>
!experts_in = tensor<3x8x16xf32>   // of a rank's experts
!experts_out = tensor<3x16x8xf32>
!inner = tensor<3x24x16xf32>
!gates = tensor<24x3xf32>
!load = tensor<3xi32>
!route = !coll.route<6 topk 2 to 24 over @m["ep"]>

coll.mesh @m ["ep" = 4]

#by_token = #coll.sharding<@m, [["ep"], []]>
#by_expert = #coll.sharding<@m, [["ep"], [], []]>
#everywhere = #coll.sharding<@m, [[], []]>

#row = affine_map<(t, e) -> (t)>
#both = affine_map<(t, e) -> (t, e)>

func.func @step(
    %x: !tokens {coll.role = "state", coll.name = "x", coll.sharding = #by_token, coll.global_type = tensor<24x8xf32>},
    %router: tensor<8x12xf32> {coll.role = "batch", coll.name = "router", coll.sharding = #everywhere, coll.global_type = tensor<8x12xf32>},
    %w_in: !experts_in {coll.role = "batch", coll.name = "w_in", coll.sharding = #by_expert, coll.global_type = tensor<12x8x16xf32>},
    %w_out: !experts_out {coll.role = "batch", coll.name = "w_out", coll.sharding = #by_expert, coll.global_type = tensor<12x16x8xf32>})
    -> (!tokens {coll.name = "x", coll.sharding = #by_token, coll.global_type = tensor<24x8xf32>},
        !load {coll.name = "load", coll.sharding = #coll.sharding<@m, [["ep"]]>, coll.global_type = tensor<12xi32>},
        tensor<i32> {coll.name = "placed"}) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32

  // The router: two experts for each token, by score, and their weights, which add up to 1.
  %empty_scores = tensor.empty() : !scores
  %zero_scores = linalg.fill ins(%zero : f32) outs(%empty_scores : !scores) -> !scores
  %scores = linalg.matmul ins(%x, %router : !tokens, tensor<8x12xf32>) outs(%zero_scores : !scores) -> !scores
  %empty_numbers = tensor.empty() : !numbers
  %numbers = linalg.generic {indexing_maps = [#both], iterator_types = ["parallel", "parallel"]}
      outs(%empty_numbers : !numbers) {
  ^bb0(%out: i32):
    %e = linalg.index 1 : index
    %number = arith.index_cast %e : index to i32
    linalg.yield %number : i32
  } -> !numbers
  %ordered:2 = coll.sort %scores, %numbers dim 1 {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32):
    %first = arith.cmpf ogt, %a, %b : f32
    coll.yield %first : i1
  } : !scores, !numbers
  %choice = tensor.extract_slice %ordered#1[0, 0] [6, 2] [1, 1] : !numbers to !choice
  %best = tensor.extract_slice %ordered#0[0, 0] [6, 2] [1, 1] : !scores to !weights
  %exponentials = math.exp %best : !weights
  %empty_sums = tensor.empty() : !sums
  %zero_sums = linalg.fill ins(%zero : f32) outs(%empty_sums : !sums) -> !sums
  %sums = linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exponentials : !weights) outs(%zero_sums : !sums) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %acc, %in : f32
    linalg.yield %s : f32
  } -> !sums
  %empty_weights = tensor.empty() : !weights
  %weights = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}
      ins(%exponentials, %sums : !weights, !sums) outs(%empty_weights : !weights) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %w = arith.divf %in, %sum : f32
    linalg.yield %w : f32
  } -> !weights

  // There.
  %rows, %row_experts, %row_weights, %load, %route =
      coll.dispatch %x to %choice weights %weights local_experts 3 capacity 24 over @m["ep"]
      : !tokens, !choice, !weights

  // How much each row counts for each expert of this rank: 0 where it did not come for it.
  %empty_gates = tensor.empty() : !gates
  %zero_gates = linalg.fill ins(%zero : f32) outs(%empty_gates : !gates) -> !gates
  %gates = linalg.generic {
      indexing_maps = [affine_map<(r, e, k) -> (r, k)>, affine_map<(r, e, k) -> (r, k)>, affine_map<(r, e, k) -> (r, e)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%row_experts, %row_weights : !row_experts, !row_weights) outs(%zero_gates : !gates) {
  ^bb0(%expert: i32, %weight: f32, %acc: f32):
    %e = linalg.index 1 : index
    %number = arith.index_cast %e : index to i32
    %is_it = arith.cmpi eq, %expert, %number : i32
    %counted = arith.select %is_it, %weight, %zero : f32
    %g = arith.addf %acc, %counted : f32
    linalg.yield %g : f32
  } -> !gates

  // The experts: relu(row w_in) w_out, times the gate, added up over this rank's.
  %empty_inner = tensor.empty() : !inner
  %zero_inner = linalg.fill ins(%zero : f32) outs(%empty_inner : !inner) -> !inner
  %product = linalg.generic {
      indexing_maps = [affine_map<(e, r, f, h) -> (r, h)>, affine_map<(e, r, f, h) -> (e, h, f)>, affine_map<(e, r, f, h) -> (e, r, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%rows, %w_in : !rows, !experts_in) outs(%zero_inner : !inner) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> !inner
  %inner = linalg.generic {
      indexing_maps = [affine_map<(e, r, f) -> (e, r, f)>, affine_map<(e, r, f) -> (r, e)>, affine_map<(e, r, f) -> (e, r, f)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product, %gates : !inner, !gates) outs(%empty_inner : !inner) {
  ^bb0(%in: f32, %gate: f32, %out: f32):
    %relu = arith.maximumf %in, %zero : f32
    %gated = arith.mulf %relu, %gate : f32
    linalg.yield %gated : f32
  } -> !inner
  %empty_rows = tensor.empty() : !rows
  %zero_rows = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %made = linalg.generic {
      indexing_maps = [affine_map<(r, h, e, f) -> (e, r, f)>, affine_map<(r, h, e, f) -> (e, f, h)>, affine_map<(r, h, e, f) -> (r, h)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%inner, %w_out : !inner, !experts_out) outs(%zero_rows : !rows) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> !rows

  // And back.
  %y = coll.combine %made along %route : !rows, !route

  // 24 tokens with two experts each.
  %empty_placed = tensor.empty() : tensor<i32>
  %zero_placed = linalg.fill ins(%none : i32) outs(%empty_placed : tensor<i32>) -> tensor<i32>
  %placed_here = linalg.generic {
      indexing_maps = [affine_map<(e) -> (e)>, affine_map<(e) -> ()>], iterator_types = ["reduction"]}
      ins(%load : !load) outs(%zero_placed : tensor<i32>) {
  ^bb0(%in: i32, %acc: i32):
    %s = arith.addi %acc, %in : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  %placed = coll.all_reduce sum %placed_here over @m["ep"] : tensor<i32>
  return %y, %load, %placed : !tokens, !load, tensor<i32>
}

// CHECK: x: f32[24, 8] =
// CHECK: load: i32[12] = [{{.*}}]
// CHECK: placed: i32[] = 48
