"builtin.module"() ({
  "coll.program"() <{ranks = array<i64: 0>, sym_name = "class0"}> ({
    "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "step"}> ({
    ^bb0(%arg2: tensor<4xf32>):
      %4 = "arith.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %5 = "arith.constant"() <{value = dense<20000> : tensor<i32>}> : () -> tensor<i32>
      %6:2 = "scf.while"(%4, %arg2) ({
      ^bb0(%arg5: tensor<i32>, %arg6: tensor<4xf32>):
        %9 = "arith.cmpi"(%arg5, %5) <{predicate = 2 : i64}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %10 = "tensor.extract"(%9) : (tensor<i1>) -> i1
        "scf.condition"(%10, %arg5, %arg6) : (i1, tensor<i32>, tensor<4xf32>) -> ()
      }, {
      ^bb0(%arg3: tensor<i32>, %arg4: tensor<4xf32>):
        %7 = "coll.all_reduce"(%arg4) <{group = #coll.group<[[0, 1]]>, order = #coll<order any>, reduction = #coll<reduction sum>}> : (tensor<4xf32>) -> tensor<4xf32>
        %8 = "arith.addi"(%arg3, %4) <{overflowFlags = #arith.overflow<none>}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
        "scf.yield"(%8, %7) : (tensor<i32>, tensor<4xf32>) -> ()
      }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
      "func.return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
  "coll.program"() <{ranks = array<i64: 1>, sym_name = "class1"}> ({
    "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "step"}> ({
    ^bb0(%arg0: tensor<4xf32>):
      %0 = "arith.constant"() <{value = 0 : index}> : () -> index
      %1 = "arith.constant"() <{value = 1 : index}> : () -> index
      %2 = "arith.constant"() <{value = 20000 : index}> : () -> index
      "scf.for"(%0, %2, %1) ({
      ^bb0(%arg1: index):
        %3 = "coll.all_reduce"(%arg0) <{group = #coll.group<[[0, 1]]>, order = #coll<order any>, reduction = #coll<reduction sum>}> : (tensor<4xf32>) -> tensor<4xf32>
        "scf.yield"() : () -> ()
      }) : (index, index, index) -> ()
      "func.return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
