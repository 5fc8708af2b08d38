// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[12,4]:0.5,-1,0.25,2,-0.75 batch_0_1=f4[12,4]:1,0,-1,0.5,0,0.25,-0.5 \
// RUN:   batch_0_2=i4[12,2]:0,1,3,0,-1,2,5,4,-1,-1,1,3,2,5,4,0,0,-1,5,1,2,3 batch_0_3=f4[12,2]:0.75,0.25,0.5 \
// RUN:   state_in_0=f4[6,4,8]:0.5,-0.25,0.125,0.375,-0.5,0.0625,0.25,-0.125,0.3125,-0.375,0.1875 \
// RUN:   state_in_1=f4[6,8,4]:-0.25,0.5,0.1875,-0.375,0.25,0.0625,-0.125
// RUN: coll-run %S/inputs/moe_training_dense.mlir --data=%t.npz --steps=10 --save=%t.dense.npz --quiet
// RUN: coll-run %s --data=%t.npz --steps=10 --reference=%t.dense.npz | FileCheck %s
// RUN: %if net %{ coll-run %s --data=%t.npz --steps=10 --reference=%t.dense.npz --backend=net --processes --ranks=3 | FileCheck %s %}

// The experts of a layer are trained on three ranks, two on each, as on one device: the gradient of a
// combine is a dispatch of the same experts. Some tokens have one expert, or none.

// CHECK: 4 of 4 within tolerance

!tokens = tensor<4x4xf32>
!choice = tensor<4x2xi32>
!weights = tensor<4x2xf32>
!rows = tensor<12x4xf32>
!row_experts = tensor<12x2xi32>
!row_weights = tensor<12x2xf32>
!gates = tensor<12x2xf32>
!inner = tensor<2x12x8xf32>
!w_in = tensor<2x4x8xf32>
!w_out = tensor<2x8x4xf32>
!route = !coll.route<4 topk 2 to 12 over @m["ep"]>

coll.mesh @m ["ep" = 3]

#tokens = #coll.sharding<@m, [["ep"], []]>
#experts = #coll.sharding<@m, [["ep"], [], []]>
#k = affine_map<(r, e, k) -> (r, k)>
#e = affine_map<(r, e, k) -> (r, e)>
#rh = affine_map<(e, r, f, h) -> (r, h)>
#ehf = affine_map<(e, r, f, h) -> (e, h, f)>
#efh = affine_map<(e, r, f, h) -> (e, f, h)>
#erf = affine_map<(e, r, f, h) -> (e, r, f)>
#three = affine_map<(e, r, f) -> (e, r, f)>
#gate = affine_map<(e, r, f) -> (r, e)>
#inner = affine_map<(r, h, e, f) -> (e, r, f)>
#out = affine_map<(r, h, e, f) -> (e, f, h)>
#made = affine_map<(r, h, e, f) -> (r, h)>
#d_inner = affine_map<(e, f, h, r) -> (e, r, f)>
#d_rows = affine_map<(e, f, h, r) -> (r, h)>
#d_out = affine_map<(e, f, h, r) -> (e, f, h)>
#in_rows = affine_map<(e, h, f, r) -> (r, h)>
#in_inner = affine_map<(e, h, f, r) -> (e, r, f)>
#d_in = affine_map<(e, h, f, r) -> (e, h, f)>
#both = affine_map<(t, h) -> (t, h)>
#none = affine_map<(t, h) -> ()>

func.func @step(
    %w_in: !w_in {coll.role = "state", coll.name = "w_in", coll.sharding = #experts, coll.global_type = tensor<6x4x8xf32>},
    %w_out: !w_out {coll.role = "state", coll.name = "w_out", coll.sharding = #experts, coll.global_type = tensor<6x8x4xf32>},
    %x: !tokens {coll.role = "batch", coll.name = "x", coll.sharding = #tokens, coll.global_type = tensor<12x4xf32>},
    %target: !tokens {coll.role = "batch", coll.name = "target", coll.sharding = #tokens, coll.global_type = tensor<12x4xf32>},
    %choice: !choice {coll.role = "batch", coll.name = "choice", coll.sharding = #tokens, coll.global_type = tensor<12x2xi32>},
    %weights: !weights {coll.role = "batch", coll.name = "weights", coll.sharding = #tokens, coll.global_type = tensor<12x2xf32>})
    -> (!w_in {coll.name = "w_in", coll.sharding = #experts, coll.global_type = tensor<6x4x8xf32>},
        !w_out {coll.name = "w_out", coll.sharding = #experts, coll.global_type = tensor<6x8x4xf32>},
        tensor<f32> {coll.name = "loss"}) {
  %zero = arith.constant 0.0 : f32
  %zero_loss = arith.constant dense<0.0> : tensor<f32>
  %zero_rows = arith.constant dense<0.0> : !rows
  %zero_gates = arith.constant dense<0.0> : !gates
  %zero_inner = arith.constant dense<0.0> : !inner
  %zero_in = arith.constant dense<0.0> : !w_in
  %zero_out = arith.constant dense<0.0> : !w_out
  %rate_in = arith.constant dense<0.02> : !w_in
  %rate_out = arith.constant dense<0.02> : !w_out

  %rows, %row_experts, %row_weights, %counts, %route =
      coll.dispatch %x to %choice weights %weights local_experts 2 capacity 12 over @m["ep"]
      : !tokens, !choice, !weights
  %gates = linalg.generic {indexing_maps = [#k, #k, #e], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%row_experts, %row_weights : !row_experts, !row_weights) outs(%zero_gates : !gates) {
  ^bb0(%expert: i32, %weight: f32, %acc: f32):
    %e = linalg.index 1 : index
    %number = arith.index_cast %e : index to i32
    %is_it = arith.cmpi eq, %expert, %number : i32
    %counted = arith.select %is_it, %weight, %zero : f32
    %g = arith.addf %acc, %counted : f32
    linalg.yield %g : f32
  } -> !gates

  // relu(row w_in) w_out, times the gate, added up over the experts that are here.
  %product = linalg.generic {indexing_maps = [#rh, #ehf, #erf], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%rows, %w_in : !rows, !w_in) outs(%zero_inner : !inner) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> !inner
  %inner = linalg.generic {indexing_maps = [#three, #gate, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%product, %gates : !inner, !gates) outs(%zero_inner : !inner) {
  ^bb0(%in: f32, %gate: f32, %out: f32):
    %relu = arith.maximumf %in, %zero : f32
    %gated = arith.mulf %relu, %gate : f32
    linalg.yield %gated : f32
  } -> !inner
  %made = linalg.generic {indexing_maps = [#inner, #out, #made], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%inner, %w_out : !inner, !w_out) outs(%zero_rows : !rows) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> !rows
  %y = coll.combine %made along %route : !rows, !route

  %d_y = arith.subf %y, %target : !tokens
  %loss_here = linalg.generic {indexing_maps = [#both, #none], iterator_types = ["reduction", "reduction"]}
      ins(%d_y : !tokens) outs(%zero_loss : tensor<f32>) {
  ^bb0(%in: f32, %acc: f32):
    %p = arith.mulf %in, %in : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %loss = coll.all_reduce sum %loss_here over @m["ep"] : tensor<f32>
  %d_rows, %row_experts_2, %row_weights_2, %counts_2, %route_2 =
      coll.dispatch %d_y to %choice weights %weights local_experts 2 capacity 12 over @m["ep"]
      : !tokens, !choice, !weights

  // Gradients of the experts, and a step of gradient descent.
  %d_out = linalg.generic {indexing_maps = [#d_inner, #d_rows, #d_out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%inner, %d_rows : !inner, !rows) outs(%zero_out : !w_out) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> !w_out
  %d_gated = linalg.generic {indexing_maps = [#rh, #efh, #erf], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%d_rows, %w_out : !rows, !w_out) outs(%zero_inner : !inner) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> !inner
  %d_product = linalg.generic {indexing_maps = [#three, #three, #gate, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%d_gated, %product, %gates : !inner, !inner, !gates) outs(%zero_inner : !inner) {
  ^bb0(%d: f32, %in: f32, %gate: f32, %out: f32):
    %passes = arith.cmpf ogt, %in, %zero : f32
    %g = arith.mulf %d, %gate : f32
    %r = arith.select %passes, %g, %zero : f32
    linalg.yield %r : f32
  } -> !inner
  %d_in = linalg.generic {indexing_maps = [#in_rows, #in_inner, #d_in], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%rows, %d_product : !rows, !inner) outs(%zero_in : !w_in) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> !w_in
  %step_in = arith.mulf %d_in, %rate_in : !w_in
  %step_out = arith.mulf %d_out, %rate_out : !w_out
  %new_in = arith.subf %w_in, %step_in : !w_in
  %new_out = arith.subf %w_out, %step_out : !w_out
  return %new_in, %new_out, %loss : !w_in, !w_out, tensor<f32>
}
