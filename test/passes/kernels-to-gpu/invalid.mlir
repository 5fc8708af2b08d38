// RUN: coll-opt %s --coll-kernels-to-gpu="ptx=%t libdevice=" --split-input-file --verify-diagnostics

// Without libdevice f32 has approximations; f64 has none.

#each = affine_map<(i) -> (i)>

func.func private @sine(%x: tensor<64xf64> {coll.access = "read"},
                        %y: tensor<64xf64> {coll.access = "write"}) -> tensor<64xf64> {
  %r = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf64>) outs(%y : tensor<64xf64>) {
  ^bb0(%in: f64, %out: f64):
    // expected-error@+1 {{on 'f64' needs the CUDA toolkit's libdevice, which is not there; name its file with the option libdevice}}
    %s = math.sin %in : f64
    linalg.yield %s : f64
  } -> tensor<64xf64>
  return %r : tensor<64xf64>
}
