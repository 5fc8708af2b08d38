// RUN: coll-opt %s --coll-verify-ranks --verify-diagnostics
// RUN: coll-opt %s --coll-combine-collectives --coll-verify-ranks --verify-diagnostics

// A sum over dp of what differs along tp differs along tp, alone and in a call with others.

coll.mesh @m ["dp" = 2, "tp" = 2]
func.func @step(%z: tensor<4xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) -> tensor<4xf32> {
  %t = coll.axis_index @m["tp"]
  %ti = arith.index_cast %t : index to i32
  %tf = arith.sitofp %ti : i32 to f32
  %v = tensor.from_elements %tf : tensor<f32>
  %a = coll.all_reduce sum %v over @m["dp"] : tensor<f32>
  %b = coll.all_reduce sum %z over @m["dp"] : tensor<4xf32>
  %s = tensor.extract %a[] : tensor<f32>
  %half = arith.constant 0.5 : f32
  %p = arith.cmpf ogt, %s, %half : f32
  // expected-error@+1 {{condition depends on data that may differ between ranks}}
  %r = scf.if %p -> tensor<4xf32> {
    %q = coll.all_reduce max %b over @m["tp"] : tensor<4xf32>
    scf.yield %q : tensor<4xf32>
  } else {
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
