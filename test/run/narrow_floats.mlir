// REQUIRES: coll-run
// RUN: %python %S/inputs/npz.py %t.npz batch_0_0=f4[4,4]:256,2048,16,8,1,1,1,1,1,1,1,1,1,1,1,1
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --data=%t.npz --print --quiet | FileCheck %s %}

// Rank 0 holds [256, 2048, 16, 8], the others ones. Each type is at its limit in one column:
// rounded after each addition, the ones would vanish there.

coll.mesh @m ["x" = 4]

#rows = #coll.sharding<@m, [["x"], []]>

func.func @step(
    %x: tensor<1x4xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>})
    -> (tensor<1x4xf32> {coll.name = "bf16", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>},
        tensor<1x4xf32> {coll.name = "f16", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>},
        tensor<1x4xf32> {coll.name = "e4m3", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>},
        tensor<1x4xf32> {coll.name = "e5m2", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>},
        tensor<1x1xf32> {coll.name = "scattered", coll.sharding = #rows, coll.global_type = tensor<4x1xf32>},
        tensor<1x4xf32> {coll.name = "permuted", coll.sharding = #rows, coll.global_type = tensor<4x4xf32>}) {
  %a = arith.truncf %x : tensor<1x4xf32> to tensor<1x4xbf16>
  %b = arith.truncf %x : tensor<1x4xf32> to tensor<1x4xf16>
  %c = arith.truncf %x : tensor<1x4xf32> to tensor<1x4xf8E4M3FN>
  %d = arith.truncf %x : tensor<1x4xf32> to tensor<1x4xf8E5M2>
  %as = coll.all_reduce sum in f32 %a over @m["x"] : tensor<1x4xbf16>
  %bs = coll.reduce sum in f32 %b to 0 over @m["x"] : tensor<1x4xf16>
  %cs = coll.all_reduce sum in f32 %c over @m["x"] order rank : tensor<1x4xf8E4M3FN>
  %ds = coll.all_reduce sum %d over @m["x"] : tensor<1x4xf8E5M2>
  %es = coll.reduce_scatter sum in f32 %a dim 1 over @m["x"] : tensor<1x4xbf16> -> tensor<1x1xbf16>
  %fs = coll.permute %d pairs [[0, 3], [1, 0]] over @m["x"] : tensor<1x4xf8E5M2>
  %aw = arith.extf %as : tensor<1x4xbf16> to tensor<1x4xf32>
  %bw = arith.extf %bs : tensor<1x4xf16> to tensor<1x4xf32>
  %cw = arith.extf %cs : tensor<1x4xf8E4M3FN> to tensor<1x4xf32>
  %dw = arith.extf %ds : tensor<1x4xf8E5M2> to tensor<1x4xf32>
  %ew = arith.extf %es : tensor<1x1xbf16> to tensor<1x1xf32>
  %fw = arith.extf %fs : tensor<1x4xf8E5M2> to tensor<1x4xf32>
  return %aw, %bw, %cw, %dw, %ew, %fw
      : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x1xf32>, tensor<1x4xf32>
}

// CHECK: bf16: f32[4, 4] = {{\[\[}}260, 2048, 19, 11], [260,
// CHECK: f16: f32[4, 4] = {{\[\[}}259, 2052, 19, 11], [1, 1, 1, 1],
// CHECK: e4m3: f32[4, 4] = {{\[\[}}256, nan, 20, 11], [256,
// CHECK: e5m2: f32[4, 4] = {{\[\[}}256, 2048, 20, 12], [256,
// CHECK: scattered: f32[4, 1] = {{\[\[}}260], [2048], [19], [11]]
// CHECK: permuted: f32[4, 4] = {{\[\[}}1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [256, 2048, 16, 8]]
