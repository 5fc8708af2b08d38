// RUN: coll-opt %s --coll-to-exec | FileCheck %s

coll.mesh @m ["dp" = 2]

// The gradient is summed in the arena; the kernel reads the old state in the place of the new one.
coll.program @class0 ranks [0, 1] {
  func.func private @kernel_0(%a: tensor<8xf32> {coll.access = "read", coll.may_alias = array<i64: 0>},
                              %b: tensor<8xf32> {coll.access = "read"},
                              %d: tensor<8xf32> {coll.access = "write"}) -> tensor<8xf32> {
    %r = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}
        ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%d : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
  func.func @step(%w: tensor<8xf32> {coll.role = "state", coll.name = "w"},
                  %g: tensor<8xf32> {coll.role = "batch"}) -> tensor<8xf32> {
    %sum = coll.all_reduce sum %g over @m["dp"] {coll.why = "data parallel"} : tensor<8xf32>
    %d = tensor.empty() : tensor<8xf32>
    %r = func.call @kernel_0(%w, %sum, %d)
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}

// CHECK: module @class0 attributes {exec.ranks = array<i64: 0, 1>} {
// CHECK: func.func private @kernel_0(%{{.+}}: memref<8xf32>, %{{.+}}: memref<8xf32>, %{{.+}}: memref<8xf32>)
// CHECK: exec.function @step(tensor<8xf32> {coll.name = "w", coll.role = "state"}, tensor<8xf32> {coll.role = "batch"}) -> tensor<8xf32> updates [0] arena 64 {
// CHECK: ^bb0(%arg0: !exec.buffer, %arg1: !exec.buffer, %arena: !exec.buffer):
// CHECK: %[[SUM:at0]] = exec.view %arena[0 for 32]
// CHECK: %[[NEW:in_arg0]] = exec.view %arg0[0 for 32]
// CHECK: exec.communicate reads(%arg1) writes(%[[SUM]])
// CHECK: coll.all_reduce sum %{{.+}} over @m["dp"] {coll.why = "data parallel"}
// CHECK: exec.call @kernel_0(reuse %arg0, read %[[SUM]], write %[[NEW]])
// CHECK: exec.rename %[[NEW]] to %arg0
// CHECK: exec.return
