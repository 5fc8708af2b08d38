// REQUIRES: coll-run
// RUN: not coll-run %s --no-verify 2>&1 | FileCheck %s
// RUN: %if net %{ not coll-run %s --no-verify --backend=net --processes --ranks=2 2>&1 | FileCheck %s %}

// Ranks that do not agree in an exchange of tokens say in what, where the proof is left out.

coll.mesh @m ["x" = 2]

coll.program @two ranks [0] {
  func.func @step() {
    %x = arith.constant dense<1.0> : tensor<3x2xf32>
    %e = arith.constant dense<1> : tensor<3x1xi32>
    %w = arith.constant dense<1.0> : tensor<3x1xf32>
    // CHECK: dispatch_mismatch.mlir:{{[0-9]+}}:{{.*}}elements of a row: 2 on rank 0, 3 on rank 1
    %d:5 = coll.dispatch %x to %e weights %w local_experts 1 capacity 6 over @m["x"] : tensor<3x2xf32>, tensor<3x1xi32>, tensor<3x1xf32>
    return
  }
}

coll.program @three ranks [1] {
  func.func @step() {
    %x = arith.constant dense<1.0> : tensor<3x3xf32>
    %e = arith.constant dense<1> : tensor<3x1xi32>
    %w = arith.constant dense<1.0> : tensor<3x1xf32>
    %d:5 = coll.dispatch %x to %e weights %w local_experts 1 capacity 6 over @m["x"] : tensor<3x3xf32>, tensor<3x1xi32>, tensor<3x1xf32>
    return
  }
}
