// RUN: coll-opt %s --coll-partition | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: coll-opt %s --coll-partition=f32-sums=false | FileCheck %s --check-prefixes=CHECK,ANY

// Contributions narrower than f32 are summed in f32; wider ones, and maxima, as they are.

coll.mesh @m ["dp" = 2]

// CHECK-LABEL: @step
// WIDE: coll.all_reduce sum in f32 %{{.*}} : tensor<8xbf16>
// WIDE: coll.reduce_scatter sum in f32 %{{.*}} : tensor<8xf16>
// ANY: coll.all_reduce sum %{{.*}} : tensor<8xbf16>
// ANY: coll.reduce_scatter sum %{{.*}} : tensor<8xf16>
// CHECK: coll.all_reduce sum %{{.*}} : tensor<8xf32>
// CHECK: coll.all_reduce max %{{.*}} : tensor<8xbf16>
func.func @step(%a: tensor<8xbf16> {coll.sharding = #coll.sharding<@m, [[]], partial sum ["dp"]>},
                %b: tensor<8xf16> {coll.sharding = #coll.sharding<@m, [[]], partial sum ["dp"]>},
                %c: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]], partial sum ["dp"]>},
                %d: tensor<8xbf16> {coll.sharding = #coll.sharding<@m, [[]], partial max ["dp"]>})
    -> (tensor<8xbf16> {coll.sharding = #coll.sharding<@m, [[]]>},
        tensor<8xf16> {coll.sharding = #coll.sharding<@m, [["dp"]]>},
        tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>},
        tensor<8xbf16> {coll.sharding = #coll.sharding<@m, [[]]>}) {
  %ra = coll.reshard %a from <@m, [[]], partial sum ["dp"]> to <@m, [[]]>
     {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xbf16>
  %rb = coll.reshard %b from <@m, [[]], partial sum ["dp"]> to <@m, [["dp"]]>
     {coll.shardings = [#coll.sharding<@m, [["dp"]]>]} : tensor<8xf16>
  %rc = coll.reshard %c from <@m, [[]], partial sum ["dp"]> to <@m, [[]]>
     {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32>
  %rd = coll.reshard %d from <@m, [[]], partial max ["dp"]> to <@m, [[]]>
     {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xbf16>
  return %ra, %rb, %rc, %rd : tensor<8xbf16>, tensor<8xf16>, tensor<8xf32>, tensor<8xbf16>
}
