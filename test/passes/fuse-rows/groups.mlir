// RUN: coll-opt %s --coll-lower-indexed --coll-outline-kernels --coll-fuse-rows --split-input-file | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>

// What others read of a group stays a result, and they run after it.

// CHECK-LABEL: func.func @used_between
// CHECK:       %[[R:.*]]:2 = call @rows_0(
// CHECK:       %[[T:.*]] = call @kernel_{{[0-9]+}}(%[[R]]#0, %{{.*}})
// CHECK:       return %[[R]]#1, %[[T]]
func.func @used_between(%x: tensor<512x96xf32>) -> (tensor<512x96xf32>, tensor<96x512xf32>) {
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %e = tensor.empty() : tensor<512x96xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x96xf32>) outs(%zero : tensor<512xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %acc, %in : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  %a = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<512x96xf32>, tensor<512xf32>) outs(%e : tensor<512x96xf32>) {
  ^bb0(%in: f32, %s: f32, %o: f32):
    %d = arith.divf %in, %s : f32
    linalg.yield %d : f32
  } -> tensor<512x96xf32>
  %te = tensor.empty() : tensor<96x512xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<512x96xf32>) outs(%te : tensor<96x512xf32>) {
  ^bb0(%in: f32, %o: f32):
    linalg.yield %in : f32
  } -> tensor<96x512xf32>
  %b = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a, %sum : tensor<512x96xf32>, tensor<512xf32>) outs(%e : tensor<512x96xf32>) {
  ^bb0(%in: f32, %s: f32, %o: f32):
    %d = arith.addf %in, %s : f32
    linalg.yield %d : f32
  } -> tensor<512x96xf32>
  return %b, %t : tensor<512x96xf32>, tensor<96x512xf32>
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// Few long rows stay apart: a reduction of its own is cut into parts.

// CHECK-LABEL: func.func @few_rows
// CHECK-NOT:   @rows_
func.func @few_rows(%x: tensor<4x100000xf32>) -> tensor<4x100000xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x100000xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x100000xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %acc, %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4x100000xf32>, tensor<4xf32>) outs(%e : tensor<4x100000xf32>) {
  ^bb0(%in: f32, %s: f32, %o: f32):
    %d = arith.divf %in, %s : f32
    linalg.yield %d : f32
  } -> tensor<4x100000xf32>
  return %a : tensor<4x100000xf32>
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// A sum over the ranks stays where it is, and its users after it.

// CHECK-LABEL: func.func @communication
// CHECK:       call @kernel_
// CHECK:       coll.all_reduce
// CHECK:       call @kernel_
// CHECK-NOT:   func.func private @rows_
coll.mesh @m ["dp" = 2]
func.func @communication(%x: tensor<512x96xf32>) -> tensor<512x96xf32> {
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %e = tensor.empty() : tensor<512x96xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x96xf32>) outs(%zero : tensor<512xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %acc, %in : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  %all = coll.all_reduce sum %sum over @m["dp"] : tensor<512xf32>
  %a = linalg.generic {indexing_maps = [#ij, #i, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %all : tensor<512x96xf32>, tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512x96xf32>) {
  ^bb0(%in: f32, %s: f32, %t: f32, %o: f32):
    %d = arith.divf %in, %s : f32
    %f = arith.addf %d, %t : f32
    linalg.yield %f : f32
  } -> tensor<512x96xf32>
  return %a : tensor<512x96xf32>
}
