// Rank 2 makes one all_reduce less than the others.
coll.mesh @m ["x" = 4]

func.func @step() -> (tensor<4xf32> {coll.name = "sum"}) {
  %c2 = arith.constant 2 : index
  %ones = arith.constant dense<1.0> : tensor<4xf32>
  %first = coll.all_reduce sum %ones over @m["x"] : tensor<4xf32>
  %rank = coll.rank
  %is_late = arith.cmpi eq, %rank, %c2 : index
  %sum = scf.if %is_late -> tensor<4xf32> {
    scf.yield %first : tensor<4xf32>
  } else {
    %second = coll.all_reduce sum %first over @m["x"] : tensor<4xf32>
    scf.yield %second : tensor<4xf32>
  }
  return %sum : tensor<4xf32>
}
