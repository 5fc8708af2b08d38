// RUN: coll-opt %s --coll-partition | FileCheck %s --check-prefix=BYTES
// RUN: coll-opt %s --coll-partition=topology=%S/inputs/two_hosts.json | FileCheck %s --check-prefix=LINKS
// RUN: not coll-opt %s --coll-partition=topology=%S/inputs/unlinked.json 2>&1 | FileCheck %s --check-prefix=UNLINKED
// RUN: not coll-opt %s --coll-partition=topology=%S/inputs/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/"tp" = 4/"tp" = 8/' %s | not coll-opt --coll-partition=topology=%S/inputs/two_hosts.json 2>&1 | FileCheck %s --check-prefix=FEW

// A sum over all ranks of two hosts. By bytes it is one collective; where the link between the hosts
// is slow, it is scattered inside each host, so that a quarter of it crosses.

// UNLINKED: error: {{.*}}unlinked.json: links: no link between hosts "a", "b"; add {"between": ["a", "b"]
// NONE: error: {{.*}}none.json: cannot be read
// FEW: error: {{.*}}two_hosts.json: the mesh has 16 ranks, the topology 8
coll.mesh @m ["dp" = 2, "tp" = 4]

// BYTES: coll.all_reduce sum %{{.*}} over @m["dp", "tp"] : tensor<1048576xf32>
// LINKS: %[[PART:.*]] = coll.reduce_scatter sum %{{.*}} dim 0 over @m["tp"] : tensor<1048576xf32> -> tensor<262144xf32>
// LINKS: %[[SUM:.*]] = coll.all_reduce sum %[[PART]] over @m["dp"] : tensor<262144xf32>
// LINKS: coll.all_gather %[[SUM]] dim 0 over @m["tp"] : tensor<262144xf32> -> tensor<1048576xf32>
func.func @step(%x: tensor<8x1048576xf32> {coll.sharding = #coll.sharding<@m, [["dp", "tp"], []]>})
    -> (tensor<1048576xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) {
  %zero = arith.constant {coll.shardings = [#coll.sharding<@m, [[]]>]} dense<0.0> : tensor<1048576xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8x1048576xf32>) outs(%zero : tensor<1048576xf32>)
     dimensions = [0] {coll.shardings = [#coll.sharding<@m, [[]], partial sum ["dp", "tp"]>]}
  %r = coll.reshard %s from <@m, [[]], partial sum ["dp", "tp"]> to <@m, [[]]>
     {coll.shardings = [#coll.sharding<@m, [[]]>]} : tensor<1048576xf32>
  return %r : tensor<1048576xf32>
}
