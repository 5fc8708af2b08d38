// REQUIRES: kernel-diff
// RUN: coll-opt %s --coll-lower-indexed --coll-outline-kernels -o %t
// RUN: kernel-diff %t | FileCheck %s

// Element types, shapes of reductions, slices and updates: as launches, emulated, and on the CPU.

// CHECK: kernels, {{[0-9]+}} launches, 0 differ

#row = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#outer = affine_map<(i, j) -> (i)>
#inner = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

func.func @types(%a: tensor<40000xf64>, %b: tensor<40000xf16>, %c: tensor<40000xbf16>,
                 %d: tensor<40000xf8E4M3FN>, %e: tensor<40000xf8E5M2>, %f: tensor<40000xi8>,
                 %g: tensor<40000xi4>, %h: tensor<40000xi1>, %i: tensor<40000xi64>)
    -> (tensor<40000xf64>, tensor<40000xf16>, tensor<40000xbf16>, tensor<40000xf8E4M3FN>,
        tensor<40000xf8E5M2>, tensor<40000xi8>, tensor<40000xi4>, tensor<40000xi1>,
        tensor<40000xi64>) {
  %0 = arith.mulf %a, %a : tensor<40000xf64>
  %1 = arith.addf %b, %b : tensor<40000xf16>
  %2 = math.exp %c : tensor<40000xbf16>
  %3 = arith.mulf %d, %d : tensor<40000xf8E4M3FN>
  %4 = arith.addf %e, %e : tensor<40000xf8E5M2>
  %5 = arith.divsi %f, %f : tensor<40000xi8>
  %6 = arith.addi %g, %g : tensor<40000xi4>
  %7 = arith.xori %h, %h : tensor<40000xi1>
  %8 = arith.muli %i, %i : tensor<40000xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8
      : tensor<40000xf64>, tensor<40000xf16>, tensor<40000xbf16>, tensor<40000xf8E4M3FN>,
        tensor<40000xf8E5M2>, tensor<40000xi8>, tensor<40000xi4>, tensor<40000xi1>,
        tensor<40000xi64>
}

// One for each way to reduce: a few lanes, a warp, a block, a cut full reduction; columns of one
// and of several elements a thread; each with a type that is exchanged in another way.
func.func @sums(%a: tensor<300x5xf32>, %b: tensor<70x100xf64>, %c: tensor<3x9000xf32>,
                %d: tensor<700x300xf32>, %e: tensor<2000x96xbf16>, %f: tensor<50x33xi64>)
    -> (tensor<300xf32>, tensor<70xf64>, tensor<3xf32>, tensor<f32>, tensor<96xbf16>,
        tensor<33xi64>) {
  %z32 = arith.constant dense<0.0> : tensor<300xf32>
  %0 = linalg.generic {indexing_maps = [#row, #outer], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<300x5xf32>) outs(%z32 : tensor<300xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<300xf32>
  %z64 = arith.constant dense<0.5> : tensor<70xf64>
  %1 = linalg.generic {indexing_maps = [#row, #outer], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<70x100xf64>) outs(%z64 : tensor<70xf64>) {
  ^bb0(%in: f64, %out: f64):
    %s = arith.maximumf %out, %in : f64
    linalg.yield %s : f64
  } -> tensor<70xf64>
  %z3 = arith.constant dense<0.0> : tensor<3xf32>
  %2 = linalg.generic {indexing_maps = [#row, #outer], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<3x9000xf32>) outs(%z3 : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %z0 = arith.constant dense<1.0> : tensor<f32>
  %3 = linalg.generic {indexing_maps = [#row, #none], iterator_types = ["reduction", "reduction"]}
      ins(%d : tensor<700x300xf32>) outs(%z0 : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %z96 = arith.constant dense<0.0> : tensor<96xbf16>
  %4 = linalg.generic {indexing_maps = [#row, #inner], iterator_types = ["reduction", "parallel"]}
      ins(%e : tensor<2000x96xbf16>) outs(%z96 : tensor<96xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %s = arith.addf %in, %out : bf16
    linalg.yield %s : bf16
  } -> tensor<96xbf16>
  %z33 = arith.constant dense<0> : tensor<33xi64>
  %5 = linalg.generic {indexing_maps = [#row, #inner], iterator_types = ["reduction", "parallel"]}
      ins(%f : tensor<50x33xi64>) outs(%z33 : tensor<33xi64>) {
  ^bb0(%in: i64, %out: i64):
    %s = arith.addi %in, %out : i64
    linalg.yield %s : i64
  } -> tensor<33xi64>
  return %0, %1, %2, %3, %4, %5
      : tensor<300xf32>, tensor<70xf64>, tensor<3xf32>, tensor<f32>, tensor<96xbf16>,
        tensor<33xi64>
}

// Two accumulations that need each other, and an output of every iteration beside a sum.
func.func @together(%x: tensor<40x64xf32>)
    -> (tensor<40xf32>, tensor<40xi32>, tensor<40x64xf32>, tensor<40xf32>) {
  %low = arith.constant dense<0xFF800000> : tensor<40xf32>
  %first = arith.constant dense<0> : tensor<40xi32>
  %max:2 = linalg.generic {indexing_maps = [#row, #outer, #outer],
                           iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<40x64xf32>) outs(%low, %first : tensor<40xf32>, tensor<40xi32>) {
  ^bb0(%in: f32, %value: f32, %at: i32):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i32
    %larger = arith.cmpf ogt, %in, %value : f32
    %v = arith.select %larger, %in, %value : f32
    %a = arith.select %larger, %here, %at : i32
    linalg.yield %v, %a : f32, i32
  } -> (tensor<40xf32>, tensor<40xi32>)
  %zero = arith.constant dense<0.0> : tensor<40xf32>
  %each = tensor.empty() : tensor<40x64xf32>
  %sum:2 = linalg.generic {indexing_maps = [#row, #row, #outer],
                           iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<40x64xf32>) outs(%each, %zero : tensor<40x64xf32>, tensor<40xf32>) {
  ^bb0(%in: f32, %o: f32, %out: f32):
    %e = math.exp %in : f32
    %s = arith.addf %out, %e : f32
    linalg.yield %e, %s : f32, f32
  } -> (tensor<40x64xf32>, tensor<40xf32>)
  return %max#0, %max#1, %sum#0, %sum#1
      : tensor<40xf32>, tensor<40xi32>, tensor<40x64xf32>, tensor<40xf32>
}

func.func @places(%x: tensor<64x200xf32>, %y: tensor<30x200xf32>, %ids: tensor<30x1xi32>)
    -> (tensor<200x64xf32>, tensor<94x200xf32>, tensor<66x204xf32>, tensor<32x100xf32>,
        tensor<64x200xf32>, tensor<30x200xf32>) {
  %empty = tensor.empty() : tensor<200x64xf32>
  %transposed = linalg.generic {indexing_maps = [#row, #transposed],
                                iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x200xf32>) outs(%empty : tensor<200x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<200x64xf32>
  %joined = tensor.concat dim(0) %x, %y
      : (tensor<64x200xf32>, tensor<30x200xf32>) -> tensor<94x200xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[1, 3] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<64x200xf32> to tensor<66x204xf32>
  %strided = tensor.extract_slice %x[1, 0] [32, 100] [2, 2]
      : tensor<64x200xf32> to tensor<32x100xf32>
  %updated = coll.accumulate %y into %x[%ids] window_dims [1] inserted_dims [0] index_map [0] {
  ^bb0(%current: f32, %update: f32):
    %s = arith.addf %current, %update : f32
    coll.yield %s : f32
  } : tensor<30x200xf32>, tensor<64x200xf32>, tensor<30x1xi32>
  %sorted = coll.sort %y dim 1 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<30x200xf32>
  return %transposed, %joined, %padded, %strided, %updated, %sorted
      : tensor<200x64xf32>, tensor<94x200xf32>, tensor<66x204xf32>, tensor<32x100xf32>,
        tensor<64x200xf32>, tensor<30x200xf32>
}

// Exponentials of what is no number, of what is too small and of what is too large.
func.func @exponentials(%a: tensor<4000xf32>) -> tensor<4000xf32> {
  %e = tensor.empty() : tensor<4000xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4000xf32>) outs(%e : tensor<4000xf32>) {
  ^bb0(%in: f32, %o: f32):
    %none = arith.constant 0x7FC00000 : f32
    %scale = arith.constant 60.0 : f32
    %half = arith.constant 0.5 : f32
    %x = arith.mulf %in, %scale : f32
    %isNone = arith.cmpf ogt, %in, %half : f32
    %y = arith.select %isNone, %none, %x : f32
    %r = math.exp %y : f32
    linalg.yield %r : f32
  } -> tensor<4000xf32>
  return %0 : tensor<4000xf32>
}
