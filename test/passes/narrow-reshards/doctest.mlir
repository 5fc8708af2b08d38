// RUN: coll-opt %s --coll-narrow-reshards=sums=true | FileCheck %s --check-prefixes=CHECK,SUMS
// RUN: coll-opt %s --coll-narrow-reshards | FileCheck %s --check-prefixes=CHECK,F32

// What is only read as bf16 travels as bf16. Contributions to a sum do so on demand.

coll.mesh @m ["dp" = 2]

// CHECK-LABEL: @step
func.func @step(%w: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>},
                %g: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]], partial sum ["dp"]>},
                %x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [[]]>})
    -> (tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>) {
  // CHECK: %[[NARROW:.+]] = arith.truncf %arg0
  // CHECK-SAME: coll.shardings = [#coll.sharding<@m, {{\[\[}}"dp"]]>]
  // CHECK: coll.reshard %[[NARROW]] {{.*}}coll.why = "gathered"{{.*}} : tensor<8xbf16>
  %whole = coll.reshard %w from <@m, [["dp"]]> to <@m, [[]]>
     {coll.shardings = [#coll.sharding<@m, [[]]>], coll.why = "gathered"} : tensor<8xf32>
  %a = arith.truncf %whole {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32> to tensor<8xbf16>
  // SUMS: %[[PART:.+]] = arith.truncf %arg1
  // SUMS: coll.reshard %[[PART]] {{.*}} : tensor<8xbf16>
  // F32: %[[SUM:.+]] = coll.reshard %arg1 {{.*}} : tensor<8xf32>
  // F32: arith.truncf %[[SUM]]
  %sum = coll.reshard %g from <@m, [[]], partial sum ["dp"]> to <@m, [[]]>
     {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32>
  %b = arith.truncf %sum {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32> to tensor<8xbf16>
  // CHECK: %[[SLICE:.+]] = coll.reshard %arg2 {{.*}} : tensor<8xf32>
  // CHECK: arith.truncf %[[SLICE]]
  %slice = coll.reshard %x from <@m, [[]]> to <@m, [["dp"]]>
     {coll.shardings = [#coll.sharding<@m, [["dp"]]>]} : tensor<8xf32>
  %c = arith.truncf %slice {coll.shardings = [#coll.sharding<@m, [["dp"]]>]} : tensor<8xf32> to tensor<8xbf16>
  return %a, %b, %c : tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>
}

// A use that reads all bits keeps them.

// CHECK-LABEL: @kept
// CHECK: coll.reshard %arg0 {{.*}} : tensor<8xf32>
func.func @kept(%w: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>})
    -> (tensor<8xbf16>, tensor<8xf32>) {
  %whole = coll.reshard %w from <@m, [["dp"]]> to <@m, [[]]>
     {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32>
  %a = arith.truncf %whole {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<8xf32> to tensor<8xbf16>
  return %a, %whole : tensor<8xbf16>, tensor<8xf32>
}
