// REQUIRES: coll-run
//
// A run that rounds to bf16 at other places than the step is accepted if the noise of such roundings is measured. That is
// done where a product of the run computes what follows it: relu here. It is not enough to ask for it, where nothing is fused.
//
// RUN: sed 's/return %wide/return %exact/' %s > %t.exact.mlir
// RUN: coll-run %t.exact.mlir --against=%s --fuse-epilogues=bias --check 2>&1 | FileCheck %s --check-prefix=FUSED
// FUSED: 1 products compute what follows them
// FUSED: s {{.*}} ok by noise
//
// RUN: not coll-run %t.exact.mlir --against=%s --fuse-epilogues=off --check | FileCheck %s --check-prefix=OWN
// RUN: sed '/%h = /s/maximumf/minimumf/' %s > %t.other.mlir
// RUN: sed 's/return %wide/return %exact/' %t.other.mlir > %t.exact.mlir
// RUN: not coll-run %t.exact.mlir --against=%t.other.mlir --fuse-epilogues=all --check 2>&1 | FileCheck %s --check-prefix=OWN
// OWN-NOT: products compute what follows them
// OWN: s {{.*}} FAIL

func.func @step(%s: tensor<8x8xf32> {coll.role = "state", coll.name = "s"},
                %x: tensor<8x8xf32> {coll.role = "batch"}, %y: tensor<8x8xf32> {coll.role = "batch"})
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %p = linalg.matmul ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = arith.maximumf %p, %zero : tensor<8x8xf32>
  %q = linalg.matmul ins(%h, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %exact = math.exp %x : tensor<8x8xf32>
  %narrow = arith.truncf %exact : tensor<8x8xf32> to tensor<8x8xbf16>
  %wide = arith.extf %narrow : tensor<8x8xbf16> to tensor<8x8xf32>
  return %wide, %q : tensor<8x8xf32>, tensor<8x8xf32>
}
