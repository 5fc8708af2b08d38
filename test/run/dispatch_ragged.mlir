// REQUIRES: coll-run
// RUN: coll-run %s --print --quiet | FileCheck %s
// RUN: %if net %{ coll-run %s --backend=net --processes --ranks=2 --print --quiet | FileCheck %s %}

// Ranks have different numbers of tokens, and room for different numbers: rank 1 has experts alone.
// In bf16, 256 + 1 is rounded once, after rank 0's share and rank 1's are added up in f32.

coll.mesh @m ["x" = 2]

#list = #coll.sharding<@m, [["x"]]>

coll.program @tokens_and_expert ranks [0] {
  func.func @step() -> (tensor<1xi32> {coll.name = "counts", coll.sharding = #list, coll.global_type = tensor<2xi32>},
                        tensor<3xf32> {coll.name = "y", coll.sharding = #list, coll.global_type = tensor<6xf32>}) {
    %x = arith.constant dense<[[256.0], [1.0], [3.0]]> : tensor<3x1xbf16>
    %e = arith.constant dense<[[0, 1], [-1, 1], [1, 0]]> : tensor<3x2xi64>
    %w = arith.constant dense<1.0> : tensor<3x2xf32>
    %rows, %row_experts, %row_weights, %counts, %route =
        coll.dispatch %x to %e weights %w local_experts 1 capacity 2 over @m["x"]
        : tensor<3x1xbf16>, tensor<3x2xi64>, tensor<3x2xf32>
    %y = coll.combine %rows along %route : tensor<2x1xbf16>, !coll.route<3 topk 2 to 2 over @m["x"]>
    %flat = tensor.collapse_shape %y [[0, 1]] : tensor<3x1xbf16> into tensor<3xbf16>
    %wide = arith.extf %flat : tensor<3xbf16> to tensor<3xf32>
    return %counts, %wide : tensor<1xi32>, tensor<3xf32>
  }
}

coll.program @expert ranks [1] {
  func.func @step() -> (tensor<1xi32> {coll.name = "counts", coll.sharding = #list, coll.global_type = tensor<2xi32>},
                        tensor<3xf32> {coll.name = "y", coll.sharding = #list, coll.global_type = tensor<6xf32>}) {
    %x = arith.constant dense<0.0> : tensor<0x1xbf16>
    %e = arith.constant dense<0> : tensor<0x2xi64>
    %w = arith.constant dense<0.0> : tensor<0x2xf32>
    %rows, %row_experts, %row_weights, %counts, %route =
        coll.dispatch %x to %e weights %w local_experts 1 capacity 3 over @m["x"]
        : tensor<0x1xbf16>, tensor<0x2xi64>, tensor<0x2xf32>
    %third = arith.constant dense<1.0> : tensor<3x1xbf16>
    %y = coll.combine %third along %route : tensor<3x1xbf16>, !coll.route<0 topk 2 to 3 over @m["x"]>
    %none = arith.constant dense<0.0> : tensor<3xf32>
    return %counts, %none : tensor<1xi32>, tensor<3xf32>
  }
}

// CHECK: counts: i32[2] = [2, 3]
// CHECK: y: f32[6] = [256, 1, 4, 0, 0, 0]
