coll.mesh @m ["x" = 2]

coll.program @sum ranks [0] {
  func.func @step() -> (tensor<2xf32> {coll.name = "y"}) {
    %x = arith.constant dense<1.0> : tensor<2xf32>
    %y = coll.all_reduce sum %x over @m["x"] : tensor<2xf32>
    return %y : tensor<2xf32>
  }
}

coll.program @copy ranks [1] {
  func.func @step() -> (tensor<2xf32> {coll.name = "y"}) {
    %x = arith.constant dense<1.0> : tensor<2xf32>
    %y = coll.broadcast %x from 0 over @m["x"] : tensor<2xf32>
    return %y : tensor<2xf32>
  }
}
