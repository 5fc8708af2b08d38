// RUN: coll-opt %s --verify-diagnostics --split-input-file

// sort_c1
func.func @sort_c1(%k: tensor<4x6xf32>, %v: tensor<4x5xi32>) {
  // expected-error@+1 {{inputs must have one shape, but are 'tensor<4x6xf32>' and 'tensor<4x5xi32>'}}
  %s, %t = coll.sort %k, %v dim 1 {
  ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<4x6xf32>, tensor<4x5xi32>
  return
}

// -----

func.func @sort_c1_dim(%k: tensor<4x6xf32>) {
  // expected-error@+1 {{dim is 2, which is not within rank 2}}
  %s = coll.sort %k dim 2 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<4x6xf32>
  return
}

// -----

func.func @sort_c1_none() {
  // expected-error@+1 {{needs an input}}
  "coll.sort"() <{dim = 0 : i64}> ({
    %less = arith.constant true
    coll.yield %less : i1
  }) : () -> ()
  return
}

// -----

// sort_c2
func.func @sort_c2(%k: tensor<6xf32>) {
  // expected-error@+1 {{region must take two scalars per input, ('f32', 'f32'), but takes ('f32')}}
  %s = coll.sort %k dim 0 {
  ^bb0(%a: f32):
    %less = arith.constant true
    coll.yield %less : i1
  } : tensor<6xf32>
  return
}

// -----

func.func @sort_c2_yield(%k: tensor<6xf32>) {
  // expected-error@+1 {{region must yield one i1}}
  %s = coll.sort %k dim 0 {
  ^bb0(%a: f32, %b: f32):
    coll.yield %a : f32
  } : tensor<6xf32>
  return
}

// -----

func.func @sort_c2_effects(%k: tensor<6xf32>) {
  // expected-error@+1 {{region must be free of side effects}}
  %s = coll.sort %k dim 0 {
  ^bb0(%a: f32, %b: f32):
    // expected-note@+1 {{'memref.alloc' is here}}
    %m = memref.alloc() : memref<f32>
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<6xf32>
  return
}
