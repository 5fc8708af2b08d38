// RUN: coll-opt %s --coll-split-ranks | FileCheck %s

// The dialect is there where nothing of it is in the input.
// CHECK: coll.program @class0 ranks [0]
// CHECK: func.func @step
func.func @step(%x: tensor<64xf32>) -> tensor<64xf32> {
  return %x : tensor<64xf32>
}
