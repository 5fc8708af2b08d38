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
