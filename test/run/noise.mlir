// REQUIRES: coll-run
//
// A value that grows by its own rounding, as a bias without gradient does under Adam, and an average of it: after 100
// steps both differ between two ways to compute the same. --check excuses that by the noise, but not an average that is
// stale: the last step alone, from the state that the ranks had, has little noise.
//
// RUN: coll-run %s --ranks=2 --steps=100 --check | FileCheck %s --check-prefix=SAME
// SAME: 3 of 3 within tolerance
//
// RUN: sed 's/%b, %rest/%rate, %rest/; s/%rate, %both/%b, %both/' %s > %t.reordered.mlir
// RUN: coll-run %t.reordered.mlir --against=%s --ranks=2 --steps=100 --check | FileCheck %s --check-prefix=REORDERED
// REORDERED: s[0]['b'] {{.*}} ok by gradient
// REORDERED: s[2].mean {{.*}} ok by noise
//
// RUN: sed 's/^  return %next, %moment, %average/  return %next, %moment, %mean/' %s > %t.stale.mlir
// RUN: not coll-run %t.stale.mlir --against=%s --ranks=2 --steps=100 --check | FileCheck %s --check-prefix=STALE
// STALE: s[2].mean {{.*}} FAIL: the last step alone is {{.*}}e-05 off, with a noise of
//
// Ranks as processes keep the state before the last step as well, and a run of one step has none.
//
// RUN: not coll-run %t.stale.mlir --against=%s --ranks=2 --steps=100 --check --backend=net --processes --quiet | FileCheck %s --check-prefix=STALE
// RUN: coll-run %t.reordered.mlir --against=%s --ranks=2 --steps=1 --check --quiet

func.func @step(%b: tensor<16xf32> {coll.role = "state", coll.name = "s[0]['b']"},
                %m: tensor<16xf32> {coll.role = "state", coll.name = "s[1].mu['b']"},
                %mean: tensor<16xf32> {coll.role = "state", coll.name = "s[2].mean"},
                %x: tensor<8x16xf32> {coll.role = "batch"})
    -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %rate = arith.constant dense<3.9> : tensor<16xf32>
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %half = arith.constant dense<0.5> : tensor<16xf32>
  %small = arith.constant dense<1.0e-4> : tensor<16xf32>
  %rest = arith.subf %one, %b : tensor<16xf32>
  %both = arith.mulf %b, %rest : tensor<16xf32>
  %next = arith.mulf %rate, %both : tensor<16xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<8x16xf32>) outs(%zero : tensor<16xf32>) dimensions = [0]
  %scaled = arith.mulf %sum, %small : tensor<16xf32>
  %moment = arith.addf %m, %scaled : tensor<16xf32>
  %centred = arith.subf %b, %half : tensor<16xf32>
  %moved = arith.mulf %centred, %small : tensor<16xf32>
  %average = arith.addf %mean, %moved : tensor<16xf32>
  return %next, %moment, %average : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
