// REQUIRES: kernel-diff

// RUN: coll-opt %s --coll-fuse-root-updates -o %t
// RUN: FileCheck %s < %t
// RUN: kernel-diff %t | FileCheck %s --check-prefix=SAME

// Kernels on the memory of four members, emulated, give each of them what the kernel alone makes of the sum of what
// they have: bf16, which is summed up in f32, f64, and lines of 16 bytes. The results may be where the sums' terms are.

// CHECK-COUNT-3: scf.if
// SAME: 6 kernels, 6 launches, 0 differ

#id = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i) -> (i)>

coll.mesh @m ["dp" = 4]

func.func @step(%a: tensor<20x16xbf16>, %b: tensor<12x3xf64>, %c: tensor<1024xf32>) -> (tensor<20x16xbf16>, tensor<12x3xf64>, tensor<1024xf32>) {
  %sa = coll.reduce_scatter sum in f32 %a dim 0 over @m["dp"] : tensor<20x16xbf16> -> tensor<5x16xbf16>
  %ea = tensor.empty() : tensor<5x16xbf16>
  %ua = call @kernel_0(%sa, %ea) : (tensor<5x16xbf16>, tensor<5x16xbf16>) -> tensor<5x16xbf16>
  %ra = coll.all_gather %ua dim 0 over @m["dp"] : tensor<5x16xbf16> -> tensor<20x16xbf16>
  %sb = coll.reduce_scatter sum %b dim 0 over @m["dp"] : tensor<12x3xf64> -> tensor<3x3xf64>
  %eb = tensor.empty() : tensor<3x3xf64>
  %ub = call @kernel_1(%sb, %eb) : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  %rb = coll.all_gather %ub dim 0 over @m["dp"] : tensor<3x3xf64> -> tensor<12x3xf64>
  %sc = coll.reduce_scatter sum %c dim 0 over @m["dp"] : tensor<1024xf32> -> tensor<256xf32>
  %ec = tensor.empty() : tensor<256xf32>
  %uc = call @kernel_2(%sc, %ec) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %rc = coll.all_gather %uc dim 0 over @m["dp"] : tensor<256xf32> -> tensor<1024xf32>
  return %ra, %rb, %rc : tensor<20x16xbf16>, tensor<12x3xf64>, tensor<1024xf32>
}

func.func private @kernel_0(%g: tensor<5x16xbf16> {coll.access = "read", coll.may_alias = array<i64: 0>}, %e: tensor<5x16xbf16> {coll.access = "write"}) -> tensor<5x16xbf16> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<5x16xbf16>) outs(%e : tensor<5x16xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %y = arith.mulf %x, %x : bf16
    linalg.yield %y : bf16
  } -> tensor<5x16xbf16>
  return %r : tensor<5x16xbf16>
}

func.func private @kernel_1(%g: tensor<3x3xf64> {coll.access = "read", coll.may_alias = array<i64: 0>}, %e: tensor<3x3xf64> {coll.access = "write"}) -> tensor<3x3xf64> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<3x3xf64>) outs(%e : tensor<3x3xf64>) {
  ^bb0(%x: f64, %o: f64):
    %y = math.sqrt %x : f64
    linalg.yield %y : f64
  } -> tensor<3x3xf64>
  return %r : tensor<3x3xf64>
}

func.func private @kernel_2(%g: tensor<256xf32> {coll.access = "read", coll.may_alias = array<i64: 0>}, %e: tensor<256xf32> {coll.access = "write"}) -> tensor<256xf32> {
  %r = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%g : tensor<256xf32>) outs(%e : tensor<256xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<256xf32>
  return %r : tensor<256xf32>
}
