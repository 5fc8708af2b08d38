// RUN: coll-opt %s --coll-kernels-to-gpu="ptx=%t" -o %t.mlir
// RUN: FileCheck %s < %t0.ptx
// RUN: coll-opt %s --coll-kernels-to-gpu="ptx=%t chip=sm_80" -o %t.mlir
// RUN: FileCheck %s --check-prefix=SM80 < %t0.ptx

// CHECK:       .target sm_90
// CHECK-LABEL: .entry half_0(
// CHECK:       ld.global{{.*}}.v4.b32
// CHECK:       st.global{{.*}}.v4.b32
// SM80:        .target sm_80
#each = affine_map<(i) -> (i)>
func.func private @half(%x: tensor<65536xbf16> {coll.access = "read"},
                        %y: tensor<65536xbf16> {coll.access = "write"}) -> tensor<65536xbf16> {
  %r = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%x : tensor<65536xbf16>) outs(%y : tensor<65536xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %s = arith.mulf %in, %in : bf16
    linalg.yield %s : bf16
  } -> tensor<65536xbf16>
  return %r : tensor<65536xbf16>
}

// A tanh that is rounded to bf16 is an instruction; in f32 it is not.

// CHECK-LABEL: .entry rounded_tanh_0(
// CHECK:       tanh.approx.f32
// CHECK-LABEL: .entry wide_tanh_0(
// CHECK-NOT:   tanh.approx
func.func private @rounded_tanh(%x: tensor<65536xbf16> {coll.access = "read"},
                                %y: tensor<65536xbf16> {coll.access = "write"}) -> tensor<65536xbf16> {
  %r = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%x : tensor<65536xbf16>) outs(%y : tensor<65536xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %t = math.tanh %in : bf16
    linalg.yield %t : bf16
  } -> tensor<65536xbf16>
  return %r : tensor<65536xbf16>
}
func.func private @wide_tanh(%x: tensor<65536xf32> {coll.access = "read"},
                             %y: tensor<65536xf32> {coll.access = "write"}) -> tensor<65536xf32> {
  %r = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%x : tensor<65536xf32>) outs(%y : tensor<65536xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = math.tanh %in : f32
    linalg.yield %t : f32
  } -> tensor<65536xf32>
  return %r : tensor<65536xf32>
}

// A scalar of 4 bits is a byte: PTX has no narrower parameters.

// CHECK-LABEL: .entry narrow_scalar_0(
// CHECK:       .param .u8 narrow_scalar_0_param_{{[01]}}{{$}}
func.func private @narrow_scalar(%v: i4, %y: tensor<64xi4> {coll.access = "write"}) -> tensor<64xi4> {
  %r = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel"]} outs(%y : tensor<64xi4>) {
  ^bb0(%out: i4):
    linalg.yield %v : i4
  } -> tensor<64xi4>
  return %r : tensor<64xi4>
}
