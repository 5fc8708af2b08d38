// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 strategy=pipeline' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: strategy 'pipeline' is unknown; use data, fsdp, zero1, tensor, expert, sequence, spatial, or auto alone
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 strategy=sequence' 2>&1 | FileCheck %s --check-prefix=NO-AXIS
// NO-AXIS: error: strategy 'sequence' finds no axis 'sp' in the mesh; name one as in 'sequence:AXIS'
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 strategy=tensor:mp' 2>&1 | FileCheck %s --check-prefix=BAD-AXIS
// BAD-AXIS: error: strategy 'tensor' names axis 'mp', which the mesh does not have
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=4 strategy=data,tensor' 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: strategy 'tensor' needs an axis of its own, but 'dp' is used already; name another as in 'tensor:AXIS'
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=2,ep=2 strategy=data,expert' 2>&1 | FileCheck %s --check-prefix=NO-EXPERTS
// NO-EXPERTS: error: strategy 'expert' finds no weights of three dimensions that a product takes one matrix of for each part of the tokens; use tensor
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=2,dp=2' 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=0' 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not coll-opt %s --coll-insert-strategy='mesh=a=4096,b=8192' 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: error: mesh '{{.*}}' is not of the form axis=N,axis=N with distinct axes and at most 16777216 ranks

// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 shard={kernal: [-, tp]}' 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: shard 'kernal: [-, tp]' matches no argument; the nearest are 'kernel', 'x'
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 shard={kernel: [-, mp]}' 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: shard 'kernel: [-, mp]' names axis 'mp', but the mesh has 'dp', 'tp'
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 shard={kernel: [tp, tp]}' 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: shard 'kernel: [tp, tp]' names axis 'tp' twice
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 shard={kernel: [tp]}' 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: shard 'kernel: [tp]' has 1 dimensions, but 'kernel' is 'tensor<8x16xf32>'
// RUN: not coll-opt %s --coll-insert-strategy='mesh=dp=2,tp=2 shard={kernel}' 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: shard 'kernel' is not of the form 'pattern: [axis, -, axis+axis]'
func.func @step(%w: tensor<8x16xf32> {coll.role = "state", coll.name = "kernel"},
                %x: tensor<12x8xf32> {coll.role = "batch", coll.name = "x"}) -> tensor<8x16xf32> {
  return %w : tensor<8x16xf32>
}
