"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "step"}> ({
  ^bb0(%arg0: tensor<4xf32>):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1 : index}> : () -> index
    %2 = "arith.constant"() <{value = 1000000 : index}> : () -> index
    %3 = "arith.constant"() <{value = 1000000000 : index}> : () -> index
    %4 = "coll.rank"() : () -> index
    %5 = "arith.cmpi"(%4, %0) <{predicate = 0 : i64}> : (index, index) -> i1
    "scf.for"(%0, %3, %1) ({
    ^bb0(%arg1: index):
      "scf.for"(%arg1, %2, %1) ({
      ^bb0(%arg2: index):
        "scf.if"(%5) ({
          "coll.send"(%arg0, %1) <{group = #coll.group<[[0, 1]]>, tag = 0 : i64}> : (tensor<4xf32>, index) -> ()
          %7 = "coll.recv"(%1) <{group = #coll.group<[[0, 1]]>, tag = 0 : i64}> : (index) -> tensor<4xf32>
          "scf.yield"() : () -> ()
        }, {
          %6 = "coll.recv"(%0) <{group = #coll.group<[[0, 1]]>, tag = 0 : i64}> : (index) -> tensor<4xf32>
          "coll.send"(%arg0, %0) <{group = #coll.group<[[0, 1]]>, tag = 0 : i64}> : (tensor<4xf32>, index) -> ()
          "scf.yield"() : () -> ()
        }) : (i1) -> ()
        "scf.yield"() : () -> ()
      }) : (index, index, index) -> ()
      "coll.barrier"() <{group = #coll.group<[[0, 1]]>}> : () -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
