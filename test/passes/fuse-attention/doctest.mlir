// RUN: coll-opt %s --coll-fuse-attention --verify-diagnostics | FileCheck %s

// Causal attention of two heads: keys are read through the transposed copy, and the output is written
// where the copy behind the product would have put it.

#rows = affine_map<(b, h, q, k) -> (b, h, q)>
#all = affine_map<(b, h, q, k) -> (b, h, q, k)>

// CHECK-LABEL: func.func @causal
// CHECK-SAME: %[[Q:.+]]: tensor<2x2x8x16xf32>, %[[K:.+]]: tensor<2x2x8x16xf32>, %[[V:.+]]: tensor<2x2x8x16xf32>
func.func @causal(%q: tensor<2x2x8x16xf32>, %k: tensor<2x2x8x16xf32>, %v: tensor<2x2x8x16xf32>) -> tensor<2x8x2x16xf32> {
  // CHECK: %[[O:.+]], %{{.+}} = coll.attention %[[Q]] at [0, 256, 128, 16], %[[K]] at [0, 256, 128, 16],
  // CHECK-SAME: %[[V]] at [0, 256, 128, 16] to [0, 256, 16, 32] sizes [2, 2, 2, 8, 8, 16] scale 2.500000e-01 causal
  // CHECK-NOT: linalg.generic
  // CHECK: return %[[O]]
  %zero_s = arith.constant dense<0.0> : tensor<2x2x8x8xf32>
  %zero_r = arith.constant dense<0.0> : tensor<2x2x8xf32>
  %zero_o = arith.constant dense<0.0> : tensor<2x2x8x16xf32>
  %lowest = arith.constant dense<0xFF800000> : tensor<2x2x8xf32>
  %hidden = arith.constant dense<-1.0e9> : tensor<2x2x8x8xf32>
  %four = arith.constant dense<4.0> : tensor<2x2x8x8xf32>
  %kt_e = tensor.empty() : tensor<2x2x16x8xf32>
  %kt = linalg.generic {indexing_maps = [affine_map<(b, h, d, k) -> (b, h, k, d)>, affine_map<(b, h, d, k) -> (b, h, d, k)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x2x8x16xf32>) outs(%kt_e : tensor<2x2x16x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<2x2x16x8xf32>
  %product = linalg.generic {
      indexing_maps = [affine_map<(b, h, q, k, d) -> (b, h, q, d)>, affine_map<(b, h, q, k, d) -> (b, h, d, k)>,
                       affine_map<(b, h, q, k, d) -> (b, h, q, k)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %kt : tensor<2x2x8x16xf32>, tensor<2x2x16x8xf32>) outs(%zero_s : tensor<2x2x8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %m = arith.mulf %x, %y : f32
    %a = arith.addf %acc, %m : f32
    linalg.yield %a : f32
  } -> tensor<2x2x8x8xf32>
  %scaled = arith.divf %product, %four : tensor<2x2x8x8xf32>
  %positions = tensor.empty() : tensor<8x8xi32>
  %row = linalg.generic {indexing_maps = [affine_map<(q, k) -> (q, k)>], iterator_types = ["parallel", "parallel"]}
      outs(%positions : tensor<8x8xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<8x8xi32>
  %column = linalg.generic {indexing_maps = [affine_map<(q, k) -> (q, k)>], iterator_types = ["parallel", "parallel"]}
      outs(%positions : tensor<8x8xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<8x8xi32>
  %sees = arith.cmpi sge, %row, %column : tensor<8x8xi32>
  %mask_e = tensor.empty() : tensor<2x2x8x8xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(b, h, q, k) -> (q, k)>, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sees : tensor<8x8xi1>) outs(%mask_e : tensor<2x2x8x8xi1>) {
  ^bb0(%x: i1, %o: i1):
    linalg.yield %x : i1
  } -> tensor<2x2x8x8xi1>
  %scores = arith.select %mask, %scaled, %hidden : tensor<2x2x8x8xi1>, tensor<2x2x8x8xf32>
  %largest = linalg.generic {indexing_maps = [#all, #rows],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%scores : tensor<2x2x8x8xf32>) outs(%lowest : tensor<2x2x8xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %m = arith.maximumf %acc, %x : f32
    linalg.yield %m : f32
  } -> tensor<2x2x8xf32>
  %wide = tensor.empty() : tensor<2x2x8x8xf32>
  %shift = linalg.generic {indexing_maps = [#rows, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%largest : tensor<2x2x8xf32>) outs(%wide : tensor<2x2x8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<2x2x8x8xf32>
  %shifted = arith.subf %scores, %shift : tensor<2x2x8x8xf32>
  // expected-remark@+1 {{attention is fused, here and in 0 more places, in 0 with its gradient: probabilities of 1024 bytes are not in memory}}
  %e = math.exp %shifted : tensor<2x2x8x8xf32>
  %sum = linalg.generic {indexing_maps = [#all, #rows],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<2x2x8x8xf32>) outs(%zero_r : tensor<2x2x8xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %m = arith.addf %acc, %x : f32
    linalg.yield %m : f32
  } -> tensor<2x2x8xf32>
  %sums = linalg.generic {indexing_maps = [#rows, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sum : tensor<2x2x8xf32>) outs(%wide : tensor<2x2x8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<2x2x8x8xf32>
  %p = arith.divf %e, %sums : tensor<2x2x8x8xf32>
  %o = linalg.generic {
      indexing_maps = [affine_map<(b, h, q, d, k) -> (b, h, q, k)>, affine_map<(b, h, q, d, k) -> (b, h, k, d)>,
                       affine_map<(b, h, q, d, k) -> (b, h, q, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<2x2x8x8xf32>, tensor<2x2x8x16xf32>) outs(%zero_o : tensor<2x2x8x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %m = arith.mulf %x, %y : f32
    %a = arith.addf %acc, %m : f32
    linalg.yield %a : f32
  } -> tensor<2x2x8x16xf32>
  %merged_e = tensor.empty() : tensor<2x8x2x16xf32>
  %merged = linalg.generic {indexing_maps = [affine_map<(b, q, h, d) -> (b, h, q, d)>, affine_map<(b, q, h, d) -> (b, q, h, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o : tensor<2x2x8x16xf32>) outs(%merged_e : tensor<2x8x2x16xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x8x2x16xf32>
  return %merged : tensor<2x8x2x16xf32>
}
