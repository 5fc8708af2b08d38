// RUN: coll-opt %s --verify-diagnostics --split-input-file

// combine_c1
func.func @combine_c1(%rows: tensor<7x4xf32>, %route: !coll.route<4 topk 2 to 8 over [[0, 1]]>) {
  // expected-error@+1 {{input must be [8, hidden] of floats, but is 'tensor<7x4xf32>'}}
  %y = coll.combine %rows along %route : tensor<7x4xf32>, !coll.route<4 topk 2 to 8 over [[0, 1]]>
  return
}

// -----

func.func @combine_c1_integers(%rows: tensor<8x4xi32>, %route: !coll.route<4 topk 2 to 8 over [[0, 1]]>) {
  // expected-error@+1 {{input must be [8, hidden] of floats, but is 'tensor<8x4xi32>'}}
  %y = coll.combine %rows along %route : tensor<8x4xi32>, !coll.route<4 topk 2 to 8 over [[0, 1]]>
  return
}

// -----

// combine_c2
func.func @combine_c2(%rows: tensor<8x4xf32>, %route: !coll.route<4 topk 2 to 8 over [[0, 1]]>) {
  // expected-error@+2 {{are incompatible with return type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = "coll.combine"(%rows, %route) : (tensor<8x4xf32>, !coll.route<4 topk 2 to 8 over [[0, 1]]>) -> tensor<5x4xf32>
  return
}

// -----

// Only a dispatch makes routes: nothing else is one.
func.func @no_route(%rows: tensor<8x4xf32>, %route: tensor<24xi32>) {
  // expected-error@+1 {{takes the route of a coll.dispatch, not 'tensor<24xi32>'}}
  %y = coll.combine %rows along %route : tensor<8x4xf32>, tensor<24xi32>
  return
}

// -----

func.func @no_axis(%rows: tensor<8x4xf32>, %route: !coll.route<4 topk 2 to 8 over @m["x"]>) {
  // expected-error@+1 {{there is no mesh @m}}
  %y = coll.combine %rows along %route : tensor<8x4xf32>, !coll.route<4 topk 2 to 8 over @m["x"]>
  return
}

// -----

func.func @of_another_group(%x: tensor<4x4xf32>, %e: tensor<4x1xi32>, %w: tensor<4x1xf32>) {
  // expected-note@+1 {{prior use here}}
  %rows, %row_experts, %row_weights, %counts, %route =
      coll.dispatch %x to %e weights %w local_experts 1 capacity 8 over [[0, 1]]
      : tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>
  // expected-error@+1 {{expects different type than prior uses}}
  %y = coll.combine %rows along %route : tensor<8x4xf32>, !coll.route<4 topk 1 to 8 over [[0, 2]]>
  return
}
