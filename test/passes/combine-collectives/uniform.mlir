// RUN: coll-opt %s --coll-combine-collectives --coll-verify-ranks | FileCheck %s

// Each tensor of a call differs along its own axes: the branch depends on the one that is equal on all ranks.

coll.mesh @m ["dp" = 2, "tp" = 2]
// CHECK: coll.start
// CHECK: scf.if
func.func @step(%z: tensor<f32> {coll.sharding = #coll.sharding<@m, []>},
                %x: tensor<4xf32> {coll.sharding = #coll.sharding<@m, [["tp"]]>}) -> tensor<4xf32> {
  %a = coll.all_reduce sum %z over @m["dp"] : tensor<f32>
  %b = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  %s = tensor.extract %a[] : tensor<f32>
  %half = arith.constant 0.5 : f32
  %p = arith.cmpf ogt, %s, %half : f32
  %r = scf.if %p -> tensor<4xf32> {
    %q = coll.all_reduce max %b over @m["tp"] : tensor<4xf32>
    scf.yield %q : tensor<4xf32>
  } else {
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
