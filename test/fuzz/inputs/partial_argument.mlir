"builtin.module"() ({
  "coll.mesh"() <{axis_names = ["dp"], axis_sizes = array<i64: 2>, sym_name = "m"}> : () -> ()
  "func.func"() <{arg_attrs = [{coll.sharding = #coll.sharding<@m, [[]], partial sum ["dp"]>}, {coll.sharding = #coll.sharding<@m, [[]], partial sum ["dp"]>}, {coll.sharding = #coll.sharding<@m, [[]], partial sum ["dp"]>}, {coll.sharding = #coll.sharding<@m, [[]], partial max ["dp"]>}], function_type = (tensor<8xbf16>, tensor<8xf16>, tensor<8xf32>, tensor<8xbf16>) -> (tensor<8xbf16>, tensor<8xf16>, tensor<8xf32>, tensor<8xbf16>), res_attrs = [{coll.sharding = #coll.sharding<@m, [[]]>}, {coll.sharding = #coll.sharding<@m, [["dp"]]>}, {coll.sharding = #coll.sharding<@m, [[]]>}, {coll.sharding = #coll.sharding<@m, [[]]>}], sym_name = "step"}> ({
  ^bb0(%arg0: tensor<8xbf16>, %arg1: tensor<8xf16>, %arg2: tensor<8xf32>, %arg3: tensor<8xbf16>):
    %0 = "coll.reshard"(%arg0) <{source = #coll.sharding<@m, [[]], partial sum ["dp"]>, target = #coll.sharding<@m, [[]]>}> {coll.shardings = [#coll.sharding<@m, [[]]>]} : (tensor<8xbf16>) -> tensor<8xbf16>
    %1 = "coll.reshard"(%arg1) <{source = #coll.sharding<@m, [[]], partial sum ["dp"]>, target = #coll.sharding<@m, [["dp"]]>}> {coll.shardings = [#coll.sharding<@m, [["dp"]]>]} : (tensor<8xf16>) -> tensor<8xf16>
    %2 = "coll.reshard"(%arg2) <{source = #coll.sharding<@m, [[]], partial sum ["dp"]>, target = #coll.sharding<@m, [[]]>}> {coll.shardings = [#coll.sharding<@m, [[]]>]} : (tensor<8xf32>) -> tensor<8xf32>
    %3 = "coll.reshard"(%arg3) <{source = #coll.sharding<@m, [[]], partial max ["dp"]>, target = #coll.sharding<@m, [[]]>}> {coll.shardings = [#coll.sharding<@m, [[]]>]} : (tensor<8xbf16>) -> tensor<8xbf16>
    "func.return"(%0, %1, %2, %3) : (tensor<8xbf16>, tensor<8xf16>, tensor<8xf32>, tensor<8xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
