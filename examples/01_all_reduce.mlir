// One collective. Four ranks each hold one row of a tensor; all get the sum of the rows.
//
//   coll-run examples/01_all_reduce.mlir --print
//
// The mesh names the ranks: four along one axis, "x". This is one program for all ranks: types in
// it are one rank's part, and coll.global_type is the whole. %row is made from the rank's own
// number, so rank r holds [r, r, r].

coll.mesh @m ["x" = 4]

func.func @step() -> (tensor<3xf32> {coll.name = "sum"},
                      tensor<1x3xf32> {coll.name = "rows",
                                       coll.sharding = #coll.sharding<@m, [["x"], []]>,
                                       coll.global_type = tensor<4x3xf32>}) {
  %rank = coll.axis_index @m["x"]
  %int = arith.index_cast %rank : index to i32
  %float = arith.sitofp %int : i32 to f32
  %empty = tensor.empty() : tensor<3xf32>
  %row = linalg.fill ins(%float : f32) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  %sum = coll.all_reduce sum %row over @m["x"] : tensor<3xf32>
  %rows = tensor.expand_shape %row [[0, 1]] output_shape [1, 3] : tensor<3xf32> into tensor<1x3xf32>
  return %sum, %rows : tensor<3xf32>, tensor<1x3xf32>
}

// CHECK: sum: f32[3] = [6, 6, 6]
// CHECK: rows: f32[4, 3] = {{\[\[}}0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]
