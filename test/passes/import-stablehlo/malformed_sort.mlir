// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --coll-import-stablehlo

func.func @main(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  // expected-error @below {{needs a dimension within the operands' rank}}
  %0 = "stablehlo.sort"(%x) <{dimension = 2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @main(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  // expected-error @below {{needs a comparator that returns one i1}}
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @main(%x: tensor<3x8xf32>) -> tensor<3x9xf32> {
  // expected-error @below {{0 <= k <= its last size}}
  %0:2 = "chlo.top_k"(%x) <{k = 9 : i64}> : (tensor<3x8xf32>) -> (tensor<3x9xf32>, tensor<3x9xi32>)
  return %0#0 : tensor<3x9xf32>
}

// -----

func.func @main(%s: tensor<4xui32>) -> tensor<7xui32> {
  // expected-error @below {{needs a state of two 64-bit words (PHILOX: or three)}}
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<4xui32>) -> (tensor<4xui32>, tensor<7xui32>)
  return %0#1 : tensor<7xui32>
}

// -----

func.func @main(%s: tensor<2xui64>) -> tensor<7xui32> {
  // expected-error @below {{has unknown rng_algorithm 'XORSHIFT'}}
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm XORSHIFT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)
  return %0#1 : tensor<7xui32>
}

// -----

func.func @main(%s: tensor<2xui64>) -> tensor<7xf32> {
  // expected-error @below {{needs integers of 8 to 64 bits as its bits}}
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xf32>)
  return %0#1 : tensor<7xf32>
}

// -----

func.func @main(%s: tensor<3xui64>) -> tensor<7xui32> {
  // expected-error @below {{needs a state of two 64-bit words}}
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<3xui64>) -> (tensor<3xui64>, tensor<7xui32>)
  return %0#1 : tensor<7xui32>
}
