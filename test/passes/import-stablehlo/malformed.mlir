// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --coll-import-stablehlo

// Nothing has verified these operations before the importer sees them: whatever is
// wrong with one is an error on it.

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs 2 operands, not 1}}
  %0 = "stablehlo.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @below {{needs operands of the result's type}}
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xi32>, %y: tensor<4xui32>) {
  // expected-error @below {{needs operands of the result's type}}
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xi32>, tensor<4xui32>) -> tensor<4xi32>
  return
}

// -----

func.func @main(%x: tensor<4xi32>) {
  // expected-error @below {{is not defined on these elements}}
  %0 = "stablehlo.sine"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs attribute 'permutation'}}
  %0 = "stablehlo.transpose"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'permutation' is not a list of integers in range}}
  %0 = "stablehlo.transpose"(%x) <{permutation = "0"}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'permutation' is not a list of 1 integers}}
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 0, 1>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs a permutation of the operand's dimensions}}
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: -1>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{cannot broadcast size 4 to 5}}
  %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs distinct broadcast_dimensions within the result's rank}}
  %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 7>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs as many elements in its result as in its operand}}
  %0 = "stablehlo.reshape"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs 0 <= start <= limit <= size and stride >= 1 in dimension 0}}
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 1>, limit_indices = array<i64: 9>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs operands that add up to the result in dimension 0}}
  %0 = "stablehlo.concatenate"(%x, %x) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @below {{needs the result's shape to be the padded one}}
  %0 = "stablehlo.pad"(%x, %v) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 1>, interior_padding = array<i64: 0>}> : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs iota_dimension within the result's rank}}
  %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'comparison_direction' is not #stablehlo<comparison_direction …>}}
  %0 = "stablehlo.compare"(%x, %x) <{comparison_direction = "LT"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{has unknown comparison_direction 'UP'}}
  %0 = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction UP>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs dense elements of the result's type as its value}}
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<3xf32>}> : () -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'dot_dimension_numbers' is not #stablehlo.dot<key = […], …>}}
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [zero]>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @below {{needs equal sizes in paired dimensions}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<4xf32>, tensor<5xf32>) -> tensor<f32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs distinct dimension numbers within the operands' ranks}}
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [0]>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @below {{needs distinct dimensions within the inputs' rank}}
  %0 = "stablehlo.reduce"(%x, %v) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @below {{needs a region that returns the initial values' types}}
  %0 = "stablehlo.reduce"(%x, %v) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"() : () -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @below {{needs a region that ends in a return}}
  %0 = "stablehlo.reduce"(%x, %v) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %v: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %v) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error @below {{uses a value from outside the scalar body}}
    %1 = "stablehlo.add"(%a, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %v: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %v) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error @below {{cannot be imported inside the region of a reduction or scatter}}
    %1 = "stablehlo.transpose"(%a) <{permutation = array<i64>}> : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @main(%x: tensor<2x4x3xf32>) {
  // expected-error @below {{attribute 'dimension_numbers' is not #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}}
  %0 = "stablehlo.convolution"(%x, %x) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 7, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @main(%x: tensor<2x4x3xf32>) {
  // expected-error @below {{needs a kernel for 3 input features}}
  %0 = "stablehlo.convolution"(%x, %x) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @main(%x: tensor<4x4xf32>, %i: tensor<i32>) {
  // expected-error @below {{needs 2 start indices}}
  %0 = "stablehlo.dynamic_slice"(%x, %i) <{slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<i32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{needs index_vector_dim within}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<index_vector_dim = 5>, slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs a condition of type tensor<i1>}}
  "stablehlo.if"(%x) ({
  "stablehlo.return"() : () -> ()
  }, {
  "stablehlo.return"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs a body that returns the operands' types}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %t = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    "stablehlo.return"(%t) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"() : () -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{needs a region argument of type}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<5xf32>):
    "stablehlo.return"() : () -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"() : () -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{has a result of type}}
  %0 = "stablehlo.optimization_barrier"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @main(%t: tensor<10xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) {
  // expected-error @below {{combines elements of one operand with those of another}}
  %0:2 = "stablehlo.scatter"(%t, %t, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>, %b: tensor<f32>, %d: tensor<f32>):
    %1 = "stablehlo.add"(%a, %d) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1, %d) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<10xf32>, tensor<10xf32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @main(%t: tensor<10xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) {
  // expected-error @below {{needs as many inputs and updates as results, and indices}}
  %0:2 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a, %b) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<10xf32>, tensor<3x1xi32>, tensor<3xf32>) -> (tensor<10xf32>, tensor<10xf32>)
  return
}

// -----

func.func @main(%t: tensor<10xf32>, %n: tensor<9xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) {
  // expected-error @below {{needs inputs of one shape and updates of one shape}}
  %0:2 = "stablehlo.scatter"(%t, %n, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>, %b: tensor<f32>, %d: tensor<f32>):
    "stablehlo.return"(%a, %c) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<10xf32>, tensor<9xf32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<10xf32>, tensor<9xf32>)
  return
}

// -----

func.func @main(%t: tensor<10xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) {
  // expected-error @below {{needs a region with 2 arguments, not 3}}
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<10xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<10xf32>
  return
}

// -----

func.func @main(%x: tensor<4x4xf32>) {
  // expected-error @below {{attribute 'precision_config' is not [#stablehlo<precision DEFAULT>, …]}}
  %0 = "stablehlo.dot_general"(%x, %x) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHER>, #stablehlo<precision DEFAULT>]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
