// RUN: coll-opt %s --coll-to-exec --coll-emit-executable | FileCheck %s

coll.mesh @m ["dp" = 2]

// The kernel reads and writes one buffer: the gradient is summed in the arena,
// then added to the state where it is.
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

// CHECK: module @class0
// CHECK: llvm.mlir.global external constant @coll_descriptor
// CHECK-SAME: \22arena_bytes\22:64
// CHECK-SAME: \22groups\22:{{\[\[\[}}0,1]]]
// CHECK-SAME: \22kind\22:\22all_reduce\22
// CHECK-SAME: \22why\22:\22data parallel\22
// CHECK: llvm.func @kernel_0_0in2(
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias, llvm.nonnull},
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias, llvm.nonnull})
// CHECK: llvm.func @coll_step(%[[ABI:[a-z0-9]+]]: !llvm.ptr, %[[CTX:[a-z0-9]+]]: !llvm.ptr, %[[ARGS:[a-z0-9]+]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[ARENA:[a-z0-9]+]]: !llvm.ptr) -> i32
// The version, then the arguments.
// CHECK: %[[VERSION:.*]] = llvm.load %[[ABI]] : !llvm.ptr -> i32
// CHECK: llvm.icmp "ne" %[[VERSION]]
// CHECK: %[[W:.*]] = llvm.load %[[ARGS]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[ARGS]][8]
// CHECK: %[[G:.*]] = llvm.load %[[AT]]
// all_reduce is the second function of the table.
// CHECK: %[[ENTRY:.*]] = llvm.getelementptr %[[ABI]][16]
// CHECK: %[[CALLEE:.*]] = llvm.load %[[ENTRY]]
// CHECK: %[[STATUS:.*]] = llvm.call %[[CALLEE]](%[[CTX]], %{{.*}}, %[[G]], %[[ARENA]],
// CHECK: %[[BAD:.*]] = llvm.icmp "ne" %[[STATUS]]
// CHECK: llvm.cond_br %[[BAD]]
// CHECK: llvm.call @kernel_0_0in2(%[[ARENA]], %[[W]])
