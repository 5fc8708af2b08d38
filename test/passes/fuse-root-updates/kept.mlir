// RUN: coll-opt %s --split-input-file --coll-fuse-root-updates | FileCheck %s

// What stays as it is.

#id = affine_map<(i) -> (i)>

// Something else reads the sum, too.
coll.mesh @m ["dp" = 2]
// CHECK-LABEL: func.func @step
// CHECK-NOT: scf.if
// CHECK: return
func.func @step(%g: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %s = coll.reduce_scatter sum %g dim 0 over @m["dp"] : tensor<8xf32> -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %u = call @kernel_0(%s, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %all = coll.all_gather %u dim 0 over @m["dp"] : tensor<4xf32> -> tensor<8xf32>
  return %all, %s : tensor<8xf32>, tensor<4xf32>
}
func.func private @kernel_0(%g: tensor<4xf32> {coll.access = "read"}, %e: tensor<4xf32> {coll.access = "write"}) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%g : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// The largest gradient is no sum.
#id = affine_map<(i) -> (i)>
coll.mesh @m ["dp" = 2]
// CHECK-LABEL: func.func @step
// CHECK-NOT: scf.if
// CHECK: return
func.func @step(%g: tensor<8xf32>) -> tensor<8xf32> {
  %s = coll.reduce_scatter max %g dim 0 over @m["dp"] : tensor<8xf32> -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %u = call @kernel_0(%s, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %all = coll.all_gather %u dim 0 over @m["dp"] : tensor<4xf32> -> tensor<8xf32>
  return %all : tensor<8xf32>
}
func.func private @kernel_0(%g: tensor<4xf32> {coll.access = "read"}, %e: tensor<4xf32> {coll.access = "write"}) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%g : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Parts of the parameters go elsewhere than parts of the gradients come from.
#id = affine_map<(i) -> (i)>
coll.mesh @m ["dp" = 2, "tp" = 2]
// CHECK-LABEL: func.func @step
// CHECK-NOT: scf.if
// CHECK: return
func.func @step(%g: tensor<8xf32>) -> tensor<8xf32> {
  %s = coll.reduce_scatter sum %g dim 0 over @m["dp"] : tensor<8xf32> -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %u = call @kernel_0(%s, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %all = coll.all_gather %u dim 0 over @m["tp"] : tensor<4xf32> -> tensor<8xf32>
  return %all : tensor<8xf32>
}
func.func private @kernel_0(%g: tensor<4xf32> {coll.access = "read"}, %e: tensor<4xf32> {coll.access = "write"}) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%g : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// The norm of the part is not elementwise.
#id = affine_map<(i) -> (i)>
#no = affine_map<(i) -> ()>
coll.mesh @m ["dp" = 2]
// CHECK-LABEL: func.func @step
// CHECK-NOT: scf.if
// CHECK: return
func.func @step(%g: tensor<8xf32>) -> tensor<8xf32> {
  %s = coll.reduce_scatter sum %g dim 0 over @m["dp"] : tensor<8xf32> -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %u = call @kernel_0(%s, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %all = coll.all_gather %u dim 0 over @m["dp"] : tensor<4xf32> -> tensor<8xf32>
  return %all : tensor<8xf32>
}
func.func private @kernel_0(%g: tensor<4xf32> {coll.access = "read"}, %e: tensor<4xf32> {coll.access = "write"}) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %n = linalg.generic {indexing_maps = [#id, #no], iterator_types = ["reduction"]} ins(%g : tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, #no, #id], iterator_types = ["parallel"]} ins(%g, %n : tensor<4xf32>, tensor<f32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %y = arith.divf %x, %z : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Another group's members meet between the two.
#id = affine_map<(i) -> (i)>
coll.mesh @m ["dp" = 2, "tp" = 2]
// CHECK-LABEL: func.func @step
// CHECK-NOT: scf.if
// CHECK: return
func.func @step(%g: tensor<8xf32>) -> tensor<8xf32> {
  %s = coll.reduce_scatter sum %g dim 0 over @m["dp"] : tensor<8xf32> -> tensor<4xf32>
  coll.barrier over @m["tp"]
  %e = tensor.empty() : tensor<4xf32>
  %u = call @kernel_0(%s, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %all = coll.all_gather %u dim 0 over @m["dp"] : tensor<4xf32> -> tensor<8xf32>
  return %all : tensor<8xf32>
}
func.func private @kernel_0(%g: tensor<4xf32> {coll.access = "read"}, %e: tensor<4xf32> {coll.access = "write"}) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%g : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
