// RUN: %python %S/inputs/npz.py %t.npz state_in_0=f4[2]:10,20 batch_0_0=f4[4]:1,2,3,4
// RUN: coll-run %s --data=%t.npz --print --quiet | FileCheck %s
// RUN: coll-opt %s --coll-split-ranks | FileCheck %s --check-prefix=PROGRAM
// RUN: not coll-run %s --ranks=2 --root=hash 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not coll-run %s --ranks=2 --accumulate=2 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not coll-run %s --ranks=2 --staleness=1 2>&1 | FileCheck %s --check-prefix=REFUSED
// REQUIRES: coll-run

// Collectives that the user wrote stay, and none is added: here one result is merged over the ranks by
// hand, and the other stays each rank's own.

// CHECK: w: f32[2] = [6, 14]
// CHECK: own: f32[4] = [9, 18, 7, 16]
// PROGRAM-COUNT-1: coll.all_reduce
// PROGRAM-NOT: coll.all_reduce
// REFUSED: error: --strategy, --shard, --stages, --root, --accumulate and --staleness are for a step that is not distributed yet; '{{.*}}' is one program for all ranks (L4)

#rows = #coll.sharding<@m, [["dp"]]>
coll.mesh @m ["dp" = 2]
func.func @step(
    %w: tensor<2xf32> {coll.name = "w", coll.role = "state", coll.sharding = #coll.sharding<@m, [[]]>},
    %x: tensor<2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<4xf32>})
    -> (tensor<2xf32>, tensor<2xf32> {coll.name = "own", coll.sharding = #rows, coll.global_type = tensor<4xf32>}) {
  %g = coll.all_reduce sum %x over @m["dp"] : tensor<2xf32>
  %w1 = arith.subf %w, %g : tensor<2xf32>
  %own = arith.subf %w, %x : tensor<2xf32>
  return %w1, %own : tensor<2xf32>, tensor<2xf32>
}
