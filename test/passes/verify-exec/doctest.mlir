// RUN: coll-opt %s --coll-verify-exec | FileCheck %s

// A round of the loop makes the next content of %carried, in the same memory.
// CHECK-LABEL: exec.function @step
exec.function @step(tensor<4xf32>) -> tensor<4xf32> updates [-1] arena 64 {
^bb0(%x: !exec.buffer, %r: !exec.buffer, %arena: !exec.buffer):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %carried = exec.view %arena[0 for 16]
  %next = exec.view %arena[0 for 16]
  exec.copy %x to %carried
  scf.for %i = %c0 to %c3 step %c1 {
    exec.communicate reads(%carried) writes(%next) {
    ^bb0(%t: tensor<4xf32>):
      %s = coll.all_reduce sum %t over [[0, 1]] : tensor<4xf32>
      coll.yield %s : tensor<4xf32>
    }
    exec.rename %next to %carried
  }
  exec.copy %carried to %r
  exec.return
}
