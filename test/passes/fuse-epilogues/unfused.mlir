// RUN: coll-opt %s --coll-lower-indexed --coll-fuse-epilogues --split-input-file 2>&1 | FileCheck %s
// RUN: coll-opt %s --coll-lower-indexed --coll-fuse-epilogues="gelu=false" --split-input-file 2>&1 | FileCheck %s --check-prefix=BIAS
// RUN: coll-opt %s --coll-lower-indexed --coll-fuse-epilogues="library=true" --split-input-file 2>&1 | FileCheck %s --check-prefix=LIBRARY

#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>

// What only kernels read is computed by them.

// CHECK-LABEL: func.func @read_by_a_kernel
// CHECK-NOT: fused_gemm
func.func @read_by_a_kernel(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %y = coll.gemm %x, %w into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  %h = arith.maximumf %y, %zero : tensor<8x8xf32>
  %r = arith.mulf %h, %x : tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

// A bias along rows, and a product that something else reads, too.

#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @other_bias
// CHECK-NOT: fused_gemm
func.func @other_bias(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %y = coll.gemm %x, %w into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  %columns = linalg.generic {indexing_maps = [#column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x8xf32>
  %h = arith.addf %y, %columns : tensor<8x8xf32>
  %y1 = coll.gemm %w, %x into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  %rows = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x8xf32>
  %h1 = arith.addf %y1, %rows : tensor<8x8xf32>
  return %h, %h1, %y1 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// The argument of relu is a result of the step, and a product that adds to its result stays.

// CHECK-LABEL: func.func @argument_is_read
// CHECK-NOT: fused_gemm
func.func @argument_is_read(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %y = coll.gemm %x, %w into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  %h = arith.maximumf %y, %zero : tensor<8x8xf32>
  %y1 = coll.gemm %w, %x into %x accumulate mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  %h1 = arith.maximumf %y1, %zero : tensor<8x8xf32>
  return %h, %h1, %y : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// gelu of f32: fused unless it is switched off; alone, the library computes it, too.

// CHECK-LABEL: func.func @gelu_of_f32
// CHECK: coll.fused_gemm "gelu"
// BIAS-LABEL: func.func @gelu_of_f32
// BIAS-NOT: fused_gemm
// LIBRARY-LABEL: func.func @gelu_of_f32
// LIBRARY: coll.fused_gemm "gelu"
func.func @gelu_of_f32(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %half = arith.constant dense<5.0e-01> : tensor<8x8xf32>
  %cubic = arith.constant dense<4.471500e-02> : tensor<8x8xf32>
  %linear = arith.constant dense<0.797884583> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %y = coll.gemm %x, %w into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  %square = arith.mulf %y, %y : tensor<8x8xf32>
  %cube = arith.mulf %square, %y : tensor<8x8xf32>
  %c = arith.mulf %cubic, %cube : tensor<8x8xf32>
  %i = arith.addf %y, %c : tensor<8x8xf32>
  %u = arith.mulf %linear, %i : tensor<8x8xf32>
  %t = math.tanh %u : tensor<8x8xf32>
  %half_y = arith.mulf %half, %y : tensor<8x8xf32>
  %rest = arith.mulf %half_y, %t : tensor<8x8xf32>
  %h = arith.addf %half_y, %rest : tensor<8x8xf32>
  return %h : tensor<8x8xf32>
}

// -----

// Another function of tanh, and gelu whose argument f32 would have to keep: the library is not asked for that.

// CHECK-LABEL: func.func @other_gelu
// CHECK: coll.fused_gemm "gelu" {{.*}} keeps
// CHECK-NOT: fused_gemm
// LIBRARY-LABEL: func.func @other_gelu
// LIBRARY-NOT: fused_gemm
func.func @other_gelu(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %half = arith.constant dense<5.0e-01> : tensor<8x8xf32>
  %cubic = arith.constant dense<4.471500e-02> : tensor<8x8xf32>
  %other = arith.constant dense<4.400000e-02> : tensor<8x8xf32>
  %linear = arith.constant dense<0.797884583> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %y = coll.gemm %x, %w into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  %square = arith.mulf %y, %y : tensor<8x8xf32>
  %cube = arith.mulf %square, %y : tensor<8x8xf32>
  %c = arith.mulf %cubic, %cube : tensor<8x8xf32>
  %i = arith.addf %y, %c : tensor<8x8xf32>
  %u = arith.mulf %linear, %i : tensor<8x8xf32>
  %t = math.tanh %u : tensor<8x8xf32>
  %half_y = arith.mulf %half, %y : tensor<8x8xf32>
  %rest = arith.mulf %half_y, %t : tensor<8x8xf32>
  %h = arith.addf %half_y, %rest : tensor<8x8xf32>
  %y1 = coll.gemm %w, %x into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  %square1 = arith.mulf %y1, %y1 : tensor<8x8xf32>
  %cube1 = arith.mulf %square1, %y1 : tensor<8x8xf32>
  %c1 = arith.mulf %other, %cube1 : tensor<8x8xf32>
  %i1 = arith.addf %y1, %c1 : tensor<8x8xf32>
  %u1 = arith.mulf %linear, %i1 : tensor<8x8xf32>
  %t1 = math.tanh %u1 : tensor<8x8xf32>
  %half_y1 = arith.mulf %half, %y1 : tensor<8x8xf32>
  %rest1 = arith.mulf %half_y1, %t1 : tensor<8x8xf32>
  %h1 = arith.addf %half_y1, %rest1 : tensor<8x8xf32>
  return %h, %h1, %y : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// In bf16 0.044715 is 0.0446777. The neighbours, to which 0.045 and 0.0444 round, make another function, and so do those
// of sqrt(2 / pi), which is 0.796875.

// CHECK-LABEL: func.func @gelu_of_bf16
// CHECK: coll.fused_gemm "gelu"
// CHECK-NOT: fused_gemm
// LIBRARY-LABEL: func.func @gelu_of_bf16
// LIBRARY: coll.fused_gemm "gelu"
// LIBRARY-NOT: fused_gemm
func.func @gelu_of_bf16(%x: tensor<8x8xbf16>, %w: tensor<8x8xbf16>)
    -> (tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>) {
  %half = arith.constant dense<5.0e-01> : tensor<8x8xbf16>
  %cubic = arith.constant dense<4.467770e-02> : tensor<8x8xbf16>
  %above = arith.constant dense<4.492190e-02> : tensor<8x8xbf16>
  %below = arith.constant dense<4.443360e-02> : tensor<8x8xbf16>
  %linear = arith.constant dense<7.968750e-01> : tensor<8x8xbf16>
  %larger = arith.constant dense<8.007810e-01> : tensor<8x8xbf16>
  %e = tensor.empty() : tensor<8x8xbf16>
  %y0 = coll.gemm %x, %w into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>
  %square0 = arith.mulf %y0, %y0 : tensor<8x8xbf16>
  %cube0 = arith.mulf %square0, %y0 : tensor<8x8xbf16>
  %c0 = arith.mulf %cubic, %cube0 : tensor<8x8xbf16>
  %i0 = arith.addf %y0, %c0 : tensor<8x8xbf16>
  %u0 = arith.mulf %linear, %i0 : tensor<8x8xbf16>
  %t0 = math.tanh %u0 : tensor<8x8xbf16>
  %half_y0 = arith.mulf %half, %y0 : tensor<8x8xbf16>
  %rest0 = arith.mulf %half_y0, %t0 : tensor<8x8xbf16>
  %h0 = arith.addf %half_y0, %rest0 : tensor<8x8xbf16>
  %y1 = coll.gemm %x, %w into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>
  %square1 = arith.mulf %y1, %y1 : tensor<8x8xbf16>
  %cube1 = arith.mulf %square1, %y1 : tensor<8x8xbf16>
  %c1 = arith.mulf %above, %cube1 : tensor<8x8xbf16>
  %i1 = arith.addf %y1, %c1 : tensor<8x8xbf16>
  %u1 = arith.mulf %linear, %i1 : tensor<8x8xbf16>
  %t1 = math.tanh %u1 : tensor<8x8xbf16>
  %half_y1 = arith.mulf %half, %y1 : tensor<8x8xbf16>
  %rest1 = arith.mulf %half_y1, %t1 : tensor<8x8xbf16>
  %h1 = arith.addf %half_y1, %rest1 : tensor<8x8xbf16>
  %y2 = coll.gemm %x, %w into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>
  %square2 = arith.mulf %y2, %y2 : tensor<8x8xbf16>
  %cube2 = arith.mulf %square2, %y2 : tensor<8x8xbf16>
  %c2 = arith.mulf %below, %cube2 : tensor<8x8xbf16>
  %i2 = arith.addf %y2, %c2 : tensor<8x8xbf16>
  %u2 = arith.mulf %linear, %i2 : tensor<8x8xbf16>
  %t2 = math.tanh %u2 : tensor<8x8xbf16>
  %half_y2 = arith.mulf %half, %y2 : tensor<8x8xbf16>
  %rest2 = arith.mulf %half_y2, %t2 : tensor<8x8xbf16>
  %h2 = arith.addf %half_y2, %rest2 : tensor<8x8xbf16>
  %y3 = coll.gemm %x, %w into %e mnk [8, 8, 8] lds [8, 8, 8] : tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>
  %square3 = arith.mulf %y3, %y3 : tensor<8x8xbf16>
  %cube3 = arith.mulf %square3, %y3 : tensor<8x8xbf16>
  %c3 = arith.mulf %cubic, %cube3 : tensor<8x8xbf16>
  %i3 = arith.addf %y3, %c3 : tensor<8x8xbf16>
  %u3 = arith.mulf %larger, %i3 : tensor<8x8xbf16>
  %t3 = math.tanh %u3 : tensor<8x8xbf16>
  %half_y3 = arith.mulf %half, %y3 : tensor<8x8xbf16>
  %rest3 = arith.mulf %half_y3, %t3 : tensor<8x8xbf16>
  %h3 = arith.addf %half_y3, %rest3 : tensor<8x8xbf16>
  return %h0, %h1, %h2, %h3 : tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xbf16>
}
