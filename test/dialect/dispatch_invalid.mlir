// RUN: coll-opt %s --verify-diagnostics --split-input-file

// dispatch_c1
func.func @dispatch_c1(%x: tensor<4xf32>, %e: tensor<4x1xi32>, %w: tensor<4x1xf32>) {
  // expected-error@+1 {{input must be [tokens, hidden], but is 'tensor<4xf32>'}}
  %d:5 = coll.dispatch %x to %e weights %w local_experts 1 capacity 8 over [[0, 1]] : tensor<4xf32>, tensor<4x1xi32>, tensor<4x1xf32>
  return
}

// -----

func.func @dispatch_c1_experts(%x: tensor<4x4xf32>, %e: tensor<5x1xi32>, %w: tensor<5x1xf32>) {
  // expected-error@+1 {{experts must be [4, topk] of i32 or i64, but are 'tensor<5x1xi32>'}}
  %d:5 = coll.dispatch %x to %e weights %w local_experts 1 capacity 8 over [[0, 1]] : tensor<4x4xf32>, tensor<5x1xi32>, tensor<5x1xf32>
  return
}

// -----

func.func @dispatch_c1_index_type(%x: tensor<4x4xf32>, %e: tensor<4x1xi16>, %w: tensor<4x1xf32>) {
  // expected-error@+1 {{experts must be [4, topk] of i32 or i64, but are 'tensor<4x1xi16>'}}
  %d:5 = coll.dispatch %x to %e weights %w local_experts 1 capacity 8 over [[0, 1]] : tensor<4x4xf32>, tensor<4x1xi16>, tensor<4x1xf32>
  return
}

// -----

func.func @dispatch_c1_weights(%x: tensor<4x4xf32>, %e: tensor<4x2xi32>, %w: tensor<4x1xf32>) {
  // expected-error@+1 {{weights must be 'tensor<4x2xf32>', but are 'tensor<4x1xf32>'}}
  %d:5 = coll.dispatch %x to %e weights %w local_experts 1 capacity 8 over [[0, 1]] : tensor<4x4xf32>, tensor<4x2xi32>, tensor<4x1xf32>
  return
}

// -----

// dispatch_c2
func.func @dispatch_c2(%x: tensor<4x4xf32>, %e: tensor<4x2xi32>, %w: tensor<4x2xf32>, %s: tensor<3x2xf32>) {
  // expected-error@+1 {{scales must be [4, number of scales] of f32, but are 'tensor<3x2xf32>'}}
  %d:6 = coll.dispatch %x to %e weights %w scales %s local_experts 1 capacity 8 over [[0, 1]] : tensor<4x4xf32>, tensor<4x2xi32>, tensor<4x2xf32>, tensor<3x2xf32>
  return
}

// -----

// dispatch_c3
func.func @dispatch_c3(%x: tensor<4x4xf32>, %e: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error@+1 {{local_experts must be at least 1, but is 0}}
  %d:5 = coll.dispatch %x to %e weights %w local_experts 0 capacity 8 over [[0, 1]] : tensor<4x4xf32>, tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

func.func @dispatch_c3_too_many(%x: tensor<4x4xf32>, %e: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error@+1 {{has 1073741824 experts on each of 2 ranks, which must be less than 2^31}}
  %d:5 = coll.dispatch %x to %e weights %w local_experts 1073741824 capacity 8 over [[0, 1]] : tensor<4x4xf32>, tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

// dispatch_c4
func.func @dispatch_c4(%x: tensor<4x4xf32>, %e: tensor<4x2xi32>, %w: tensor<4x2xf32>) {
  // expected-error@+1 {{tokens and capacity must be 0 to 1073741823, but are 4 and -1}}
  %d:5 = coll.dispatch %x to %e weights %w local_experts 1 capacity -1 over [[0, 1]] : tensor<4x4xf32>, tensor<4x2xi32>, tensor<4x2xf32>
  return
}

// -----

// dispatch_c5
func.func @dispatch_c5(%x: tensor<4x4xf32>, %e: tensor<4x1xi32>, %w: tensor<4x1xf32>) {
  // expected-error@+2 {{are incompatible with return type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %d:5 = "coll.dispatch"(%x, %e, %w) {local_experts = 2, capacity = 8, group = #coll.group<[[0, 1]]>}
      : (tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>)
      -> (tensor<8x4xf32>, tensor<8x1xi32>, tensor<8x1xf32>, tensor<3xi32>, !coll.route<4 topk 1 to 8 over [[0, 1]]>)
  return
}

// -----

// A route over another group than the dispatch's.
func.func @dispatch_c5_route(%x: tensor<4x4xf32>, %e: tensor<4x1xi32>, %w: tensor<4x1xf32>) {
  // expected-error@+2 {{are incompatible with return type(s)}}
  // expected-error@+1 {{failed to infer returned types}}
  %d:5 = "coll.dispatch"(%x, %e, %w) {local_experts = 2, capacity = 8, group = #coll.group<[[0, 1]]>}
      : (tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>)
      -> (tensor<8x4xf32>, tensor<8x1xi32>, tensor<8x1xf32>, tensor<2xi32>, !coll.route<4 topk 1 to 8 over [[0, 2]]>)
  return
}

// -----

// route_c1
// expected-error@+1 {{topk must be 1 to 32, but is 33}}
func.func private @route_c1(!coll.route<4 topk 33 to 8 over [[0, 1]]>)

// -----

// route_c2
// expected-error@+1 {{tokens and capacity must be 0 to 1073741823, but are 1073741824 and 8}}
func.func private @route_c2(!coll.route<1073741824 topk 1 to 8 over [[0, 1]]>)

// -----

func.func @no_mesh(%x: tensor<4x4xf32>, %e: tensor<4x1xi32>, %w: tensor<4x1xf32>) {
  // expected-error@+1 {{there is no mesh @nowhere}}
  %d:5 = coll.dispatch %x to %e weights %w local_experts 1 capacity 8 over @nowhere["x"] : tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xf32>
  return
}
