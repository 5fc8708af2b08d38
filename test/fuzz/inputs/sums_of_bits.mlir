coll.mesh @m ["dp" = 2]
func.func @step(%x: tensor<4xi1> {coll.sharding = #coll.sharding<@m, [[]]>},
                %i: tensor<6x1xi1> {coll.sharding = #coll.sharding<@m, [["dp"], []]>},
                %u: tensor<6xi1> {coll.sharding = #coll.sharding<@m, [["dp"]]>}) -> tensor<4xi1> {
  %s = coll.accumulate %u into %x[%i] inserted_dims [0] index_map [0] {
  ^bb0(%a: i1, %b: i1):
    %c = arith.addi %a, %b : i1
    coll.yield %c : i1
  } : tensor<6xi1>, tensor<4xi1>, tensor<6x1xi1>
  %m = coll.accumulate %u into %s[%i] inserted_dims [0] index_map [0] {
  ^bb0(%a: i1, %b: i1):
    %c = arith.maxsi %a, %b : i1
    coll.yield %c : i1
  } : tensor<6xi1>, tensor<4xi1>, tensor<6x1xi1>
  return %m : tensor<4xi1>
}
