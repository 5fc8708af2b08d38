// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,2]:1,-2,3,4,-5,6,7,8 batch_0_1=i4[4,1]:7,3,6,-1
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank r holds row r of [[1, -2], [3, 4], [-5, 6], [7, 8]] and of [[7], [3], [6], [-1]].
// Each result shows what rank 0 … 3 got, one row each.

coll.mesh @m ["x" = 4]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %f: tensor<1x2xf32> {coll.name = "f", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
    %i: tensor<1x1xi32> {coll.name = "i", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x1xi32>})
    -> (tensor<1x2xf32> {coll.name = "sum", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "prod", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "min", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "max", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "avg", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "ordered", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x2xf32> {coll.name = "pairs", coll.sharding = #rows, coll.global_type = tensor<4x2xf32>},
        tensor<1x1xi32> {coll.name = "isum", coll.sharding = #rows, coll.global_type = tensor<4x1xi32>},
        tensor<1x1xi32> {coll.name = "imin", coll.sharding = #rows, coll.global_type = tensor<4x1xi32>},
        tensor<1x1xi32> {coll.name = "umax", coll.sharding = #rows, coll.global_type = tensor<4x1xi32>},
        tensor<1x1xi32> {coll.name = "and", coll.sharding = #rows, coll.global_type = tensor<4x1xi32>},
        tensor<1x1xi32> {coll.name = "or", coll.sharding = #rows, coll.global_type = tensor<4x1xi32>},
        tensor<1x1xi32> {coll.name = "xor", coll.sharding = #rows, coll.global_type = tensor<4x1xi32>}) {
  %sum = coll.all_reduce sum %f over @m["x"] : tensor<1x2xf32>
  %prod = coll.all_reduce prod %f over @m["x"] : tensor<1x2xf32>
  %min = coll.all_reduce min %f over @m["x"] : tensor<1x2xf32>
  %max = coll.all_reduce max %f over @m["x"] : tensor<1x2xf32>
  %avg = coll.all_reduce avg %f over @m["x"] : tensor<1x2xf32>
  %ordered = coll.all_reduce sum %f over @m["x"] order rank : tensor<1x2xf32>
  %pairs = coll.all_reduce sum %f over [[0, 2], [1, 3]] : tensor<1x2xf32>
  %isum = coll.all_reduce sum %i over @m["x"] : tensor<1x1xi32>
  %imin = coll.all_reduce min %i over @m["x"] : tensor<1x1xi32>
  %umax = coll.all_reduce umax %i over @m["x"] : tensor<1x1xi32>
  %and = coll.all_reduce and %i over @m["x"] : tensor<1x1xi32>
  %or = coll.all_reduce or %i over @m["x"] : tensor<1x1xi32>
  %xor = coll.all_reduce xor %i over @m["x"] : tensor<1x1xi32>
  return %sum, %prod, %min, %max, %avg, %ordered, %pairs, %isum, %imin, %umax, %and, %or, %xor
      : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>,
        tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>,
        tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>
}

// CHECK: sum: f32[4, 2] = {{\[\[}}6, 16], [6, 16], [6, 16], [6, 16]]
// CHECK: prod: f32[4, 2] = {{\[\[}}-105, -384], [-105, -384], [-105, -384], [-105, -384]]
// CHECK: min: f32[4, 2] = {{\[\[}}-5, -2], [-5, -2], [-5, -2], [-5, -2]]
// CHECK: max: f32[4, 2] = {{\[\[}}7, 8], [7, 8], [7, 8], [7, 8]]
// CHECK: avg: f32[4, 2] = {{\[\[}}1.5, 4], [1.5, 4], [1.5, 4], [1.5, 4]]
// CHECK: ordered: f32[4, 2] = {{\[\[}}6, 16], [6, 16], [6, 16], [6, 16]]
// CHECK: pairs: f32[4, 2] = {{\[\[}}-4, 4], [10, 12], [-4, 4], [10, 12]]
// CHECK: isum: i32[4, 1] = {{\[\[}}15], [15], [15], [15]]
// CHECK: imin: i32[4, 1] = {{\[\[}}-1], [-1], [-1], [-1]]
// CHECK: umax: i32[4, 1] = {{\[\[}}-1], [-1], [-1], [-1]]
// CHECK: and: i32[4, 1] = {{\[\[}}2], [2], [2], [2]]
// CHECK: or: i32[4, 1] = {{\[\[}}-1], [-1], [-1], [-1]]
// CHECK: xor: i32[4, 1] = {{\[\[}}-3], [-3], [-3], [-3]]
