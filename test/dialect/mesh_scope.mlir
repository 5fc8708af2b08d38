// RUN: coll-opt %s | FileCheck %s

// A mesh is found from inside rank programs and nested modules.
coll.mesh @m ["dp" = 2]

// CHECK: coll.program @class0
coll.program @class0 ranks [0, 1] {
  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: coll.all_reduce sum %{{.+}} over @m["dp"]
    %0 = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// CHECK: module @nested
module @nested {
  // CHECK: coll.axis_index @m["dp"]
  func.func @coordinate() -> index {
    %0 = coll.axis_index @m["dp"]
    return %0 : index
  }
}
