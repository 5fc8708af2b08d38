// RUN: coll-opt %s --coll-fuse-kernels=recompute | FileCheck %s
// RUN: coll-opt %s --coll-fuse-kernels | FileCheck %s --check-prefix=KEEP

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// An exponential of one narrower value is computed where it is used, and so is an element of it that
// is looked up. Without the option it is kept in memory.

// CHECK-LABEL: func.func @uses
// CHECK-SAME:    %[[X:.*]]: tensor<64x96xbf16>, %[[AT:.*]]: tensor<64xindex>
// CHECK-NOT:   tensor<64x96xf32>
// CHECK-COUNT-2: math.exp
// CHECK:       tensor.extract %[[X]]
// KEEP-LABEL: func.func @uses
// KEEP:       tensor.empty() : tensor<64x96xf32>
// KEEP-COUNT-1: math.exp
// KEEP-NOT:   math.exp
func.func @uses(%x: tensor<64x96xbf16>, %at: tensor<64xindex>) -> (tensor<64xf32>, tensor<64x96xbf16>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64x96xf32>
  %exp = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x96xbf16>) outs(%e : tensor<64x96xf32>) {
  ^bb0(%in: bf16, %o: f32):
    %w = arith.extf %in : bf16 to f32
    %r = math.exp %w : f32
    linalg.yield %r : f32
  } -> tensor<64x96xf32>
  %ez = tensor.empty() : tensor<64xf32>
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%ez : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x96xf32>) outs(%z : tensor<64xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %acc, %in : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %eb = tensor.empty() : tensor<64x96xbf16>
  %part = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x96xf32>, tensor<64xf32>) outs(%eb : tensor<64x96xbf16>) {
  ^bb0(%in: f32, %s: f32, %o: bf16):
    %d = arith.divf %in, %s : f32
    %n = arith.truncf %d : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<64x96xbf16>
  %found = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : tensor<64xindex>) outs(%ez : tensor<64xf32>) {
  ^bb0(%j: index, %o: f32):
    %i = linalg.index 0 : index
    %v = tensor.extract %exp[%i, %j] : tensor<64x96xf32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %sum, %part, %found : tensor<64xf32>, tensor<64x96xbf16>, tensor<64xf32>
}
