// Accumulations of rows whose positions repeat and leave the operand, and sorts with equal keys.

#map = affine_map<(d0, d1) -> (d0, d1)>

func.func @step(%w: tensor<50x12xf32> {coll.role = "state"}, %x: tensor<96x12xf32>, %y: tensor<12x96xf32>,
                %z: tensor<8x12x12xf32>, %keys: tensor<3x77xf32>, %long: tensor<130x2xf32>)
    -> (tensor<50x12xf32>, tensor<50x12xf32>, tensor<50x12xf32>, tensor<12x50xf32>, tensor<6x9x12xf32>,
        tensor<50x12xf32>, tensor<3x77xf32>, tensor<3x77xi32>, tensor<130x2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<50x12xf32>
  %ones = arith.constant dense<1.0> : tensor<12x50xf32>
  %none = arith.constant dense<0.0> : tensor<6x9x12xf32>
  // Rows from -2 to 57; each of them several times.
  %no_ids = tensor.empty() : tensor<96x1xi32>
  %ids = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]}
      outs(%no_ids : tensor<96x1xi32>) {
  ^bb0(%out: i32):
    %u = linalg.index 0 : index
    %factor = arith.constant 37 : index
    %many = arith.constant 60 : index
    %two = arith.constant 2 : i32
    %far = arith.muli %u, %factor : index
    %near = arith.remui %far, %many : index
    %number = arith.index_cast %near : index to i32
    %id = arith.subi %number, %two : i32
    linalg.yield %id : i32
  } -> tensor<96x1xi32>
  %no_pairs = tensor.empty() : tensor<96x2xi32>
  %pairs = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]}
      outs(%no_pairs : tensor<96x2xi32>) {
  ^bb0(%out: i32):
    %u = linalg.index 0 : index
    %k = linalg.index 1 : index
    %factor = arith.constant 5 : index
    %many = arith.constant 11 : index
    %one = arith.constant 1 : i32
    %far = arith.muli %u, %factor : index
    %moved = arith.addi %far, %k : index
    %near = arith.remui %moved, %many : index
    %number = arith.index_cast %near : index to i32
    %id = arith.subi %number, %one : i32
    linalg.yield %id : i32
  } -> tensor<96x2xi32>
  %grid = tensor.expand_shape %ids [[0, 1], [2]] output_shape [8, 12, 1] : tensor<96x1xi32> into tensor<8x12x1xi32>

  %sum = coll.accumulate %x into %zero[%ids] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%current: f32, %update: f32):
    %s = arith.addf %current, %update : f32
    coll.yield %s : f32
  } : tensor<96x12xf32>, tensor<50x12xf32>, tensor<96x1xi32>
  // The last one stays.
  %set = coll.accumulate %x into %w[%ids] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%current: f32, %update: f32):
    coll.yield %update : f32
  } : tensor<96x12xf32>, tensor<50x12xf32>, tensor<96x1xi32>
  // The order counts; the windows come first.
  %half = coll.accumulate %y into %ones[%ids] window_dims [0] inserted_dims [1] index_map [1] {
  ^bb0(%current: f32, %update: f32):
    %c = arith.constant 0.5 : f32
    %less = arith.mulf %current, %c : f32
    %s = arith.addf %less, %update : f32
    coll.yield %s : f32
  } : tensor<12x96xf32>, tensor<12x50xf32>, tensor<96x1xi32>
  // Positions along two dimensions.
  %both = coll.accumulate %x into %none[%pairs] window_dims [1] inserted_dims [0, 1] index_map [1, 0] {
  ^bb0(%current: f32, %update: f32):
    %s = arith.addf %current, %update : f32
    coll.yield %s : f32
  } : tensor<96x12xf32>, tensor<6x9x12xf32>, tensor<96x2xi32>
  // Updates along two dimensions.
  %table = coll.accumulate %z into %w[%grid] window_dims [2] inserted_dims [0] index_map [0] {
  ^bb0(%current: f32, %update: f32):
    %s = arith.maximumf %current, %update : f32
    coll.yield %s : f32
  } : tensor<8x12x12xf32>, tensor<50x12xf32>, tensor<8x12x1xi32>

  // Few different keys.
  %c4 = arith.constant dense<4.0> : tensor<3x77xf32>
  %scaled = arith.mulf %keys, %c4 : tensor<3x77xf32>
  %few = math.floor %scaled : tensor<3x77xf32>
  %no_places = tensor.empty() : tensor<3x77xi32>
  %places = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]}
      outs(%no_places : tensor<3x77xi32>) {
  ^bb0(%out: i32):
    %p = linalg.index 1 : index
    %number = arith.index_cast %p : index to i32
    linalg.yield %number : i32
  } -> tensor<3x77xi32>
  %s0, %s1 = coll.sort %few, %places dim 1 {
  ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
    %before = arith.cmpf ogt, %a, %b : f32
    coll.yield %before : i1
  } : tensor<3x77xf32>, tensor<3x77xi32>
  %s2 = coll.sort %long dim 0 {
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf olt, %a, %b : f32
    coll.yield %before : i1
  } : tensor<130x2xf32>
  return %set, %sum, %set, %half, %both, %table, %s0, %s1, %s2 : tensor<50x12xf32>, tensor<50x12xf32>,
      tensor<50x12xf32>, tensor<12x50xf32>, tensor<6x9x12xf32>, tensor<50x12xf32>, tensor<3x77xf32>,
      tensor<3x77xi32>, tensor<130x2xf32>
}
