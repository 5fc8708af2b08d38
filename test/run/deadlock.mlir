// REQUIRES: coll-run
// RUN: not coll-run %s 2>&1 | FileCheck %s --check-prefix=PROOF
// RUN: not coll-run %s --no-verify --timeout=0.5 2>&1 | FileCheck %s --check-prefix=TIMEOUT

// Every rank receives before it sends. The proof refuses that before anything runs; without
// the proof, the deadline ends it on every rank.

coll.mesh @m ["x" = 2]

func.func @step() -> (tensor<1xi32> {coll.name = "received"}) {
  %c1 = arith.constant 1 : index
  %rank = coll.rank
  %peer = arith.subi %c1, %rank : index
  %mine = arith.constant dense<1> : tensor<1xi32>
  %received = coll.recv from %peer over @m["x"] : tensor<1xi32>
  coll.send %mine to %peer over @m["x"] : tensor<1xi32>
  return %received : tensor<1xi32>
}

// PROOF: deadlock.mlir:15:{{[0-9]+}}: error: cyclic wait
// PROOF: rank 0
// PROOF: rank 1
// PROOF: coll-run: error: distributing the step failed
// TIMEOUT: coll-run: error: step 1: timeout:
// TIMEOUT-DAG: rank 0:
// TIMEOUT-DAG: rank 1:
