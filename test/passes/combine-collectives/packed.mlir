// RUN: coll-opt %s --coll-combine-collectives | FileCheck %s
// RUN: coll-opt %s --coll-combine-collectives --coll-verify-ranks -o %t

coll.mesh @m ["dp" = 2, "tp" = 2]

// The blocks of all tensors lie behind each other in a row for each rank; only where the dimension
// that ranks split is not the first do elements change their order.
// CHECK-LABEL: func.func @gathered
// CHECK-SAME: (%[[A:.+]]: tensor<2x3xf32>, %[[B:.+]]: tensor<4xf32>, %[[C:.+]]: tensor<2x5xf32>
func.func @gathered(%a: tensor<2x3xf32>, %b: tensor<4xf32>, %c: tensor<2x5xf32>,
                    %large: tensor<8193xf32>) -> (tensor<4x3xf32>, tensor<8xf32>, tensor<2x10xf32>, tensor<16386xf32>) {
  // CHECK-DAG: %[[FA:.+]] = tensor.collapse_shape %[[A]]
  // CHECK-DAG: %[[FC:.+]] = tensor.collapse_shape %[[C]]
  // CHECK: %[[P:.+]] = tensor.concat dim(0) %[[FA]], %[[B]], %[[FC]] : {{.+}} -> tensor<20xf32>
  // CHECK: %[[G:.+]] = coll.all_gather %[[P]] dim 0 over @m["dp"] {coll.tensors = [{loc = {{.+}}, type = tensor<2x3xf32>}, {{.+}} : tensor<20xf32> -> tensor<40xf32>
  // CHECK: %[[R:.+]] = tensor.expand_shape %[[G]] {{.+}} into tensor<2x20xf32>
  // CHECK: tensor.extract_slice %[[R]][0, 0] [2, 6] [1, 1]
  // CHECK: tensor.extract_slice %[[R]][0, 6] [2, 4] [1, 1]
  // CHECK: %[[SC:.+]] = tensor.extract_slice %[[R]][0, 10] [2, 10] [1, 1]
  // CHECK: linalg.transpose {{.+}} permutation = [1, 0, 2]
  // CHECK: coll.all_gather %{{.+}} : tensor<8193xf32> -> tensor<16386xf32>
  %0 = coll.all_gather %a dim 0 over @m["dp"] : tensor<2x3xf32> -> tensor<4x3xf32>
  %1 = coll.all_gather %b dim 0 over @m["dp"] : tensor<4xf32> -> tensor<8xf32>
  %2 = coll.all_gather %c dim 1 over @m["dp"] : tensor<2x5xf32> -> tensor<2x10xf32>
  %3 = coll.all_gather %large dim 0 over @m["dp"] : tensor<8193xf32> -> tensor<16386xf32>
  return %0, %1, %2, %3 : tensor<4x3xf32>, tensor<8xf32>, tensor<2x10xf32>, tensor<16386xf32>
}

// Tensors of 64 KiB are the largest that are packed.
// CHECK-LABEL: func.func @largest
// CHECK: tensor.concat dim(0) %{{.+}}, %{{.+}} : (tensor<8192xf32>, tensor<8192xf32>) -> tensor<16384xf32>
func.func @largest(%a: tensor<8192xf32>, %b: tensor<8192xf32>) -> (tensor<16384xf32>, tensor<16384xf32>) {
  %0 = coll.all_gather %a dim 0 over @m["dp"] : tensor<8192xf32> -> tensor<16384xf32>
  %1 = coll.all_gather %b dim 0 over @m["dp"] : tensor<8192xf32> -> tensor<16384xf32>
  return %0, %1 : tensor<16384xf32>, tensor<16384xf32>
}

// CHECK-LABEL: func.func @scattered
// CHECK: tensor.concat dim(1) %{{.+}}, %{{.+}} : (tensor<2x6xf32>, tensor<2x4xf32>) -> tensor<2x10xf32>
// CHECK: %[[S:.+]] = coll.reduce_scatter sum %{{.+}} dim 0 over @m["dp"] order rank {{.+}} : tensor<20xf32> -> tensor<10xf32>
// CHECK: tensor.extract_slice %[[S]][0] [6] [1]
// CHECK: tensor.extract_slice %[[S]][6] [4] [1]
// CHECK: coll.reduce_scatter max
func.func @scattered(%a: tensor<4x3xf32>, %b: tensor<4x2xf32>) -> (tensor<2x3xf32>, tensor<4x1xf32>, tensor<2x3xf32>) {
  %0 = coll.reduce_scatter sum %a dim 0 over @m["dp"] order rank : tensor<4x3xf32> -> tensor<2x3xf32>
  %1 = coll.reduce_scatter sum %b dim 1 over @m["dp"] order rank : tensor<4x2xf32> -> tensor<4x1xf32>
  %2 = coll.reduce_scatter max %a dim 0 over @m["dp"] : tensor<4x3xf32> -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<4x1xf32>, tensor<2x3xf32>
}

// Row i of what is exchanged is the block for rank i, afterwards that of rank i. In one dimension a
// tensor has no block of its own.
// CHECK-LABEL: func.func @exchanged
// CHECK: tensor.concat dim(1) %{{.+}}, %{{.+}} : (tensor<2x6xf32>, tensor<2x4xf32>) -> tensor<2x10xf32>
// CHECK: %[[E:.+]] = coll.all_to_all %{{.+}} split 0 concat 0 over @m["dp"] {coll.tensors = [{loc = {{.+}}, type = tensor<4x3xf32>}, {{.+}} : tensor<2x10xf32> -> tensor<2x10xf32>
// CHECK: tensor.extract_slice %[[E]][0, 0] [2, 6] [1, 1]
// CHECK: tensor.extract_slice %[[E]][0, 6] [2, 4] [1, 1]
// CHECK: coll.all_to_all %{{.+}} : tensor<4x2xf32> -> tensor<4x2xf32>
func.func @exchanged(%a: tensor<4x3xf32>, %b: tensor<4x2xf32>) -> (tensor<2x6xf32>, tensor<8x1xf32>, tensor<4x2xf32>) {
  %0 = coll.all_to_all %a split 0 concat 1 over @m["dp"] : tensor<4x3xf32> -> tensor<2x6xf32>
  %1 = coll.all_to_all %b split 1 concat 0 over @m["dp"] : tensor<4x2xf32> -> tensor<8x1xf32>
  %2 = coll.all_to_all %b split 0 concat 0 over @m["dp"] : tensor<4x2xf32> -> tensor<4x2xf32>
  return %0, %1, %2 : tensor<2x6xf32>, tensor<8x1xf32>, tensor<4x2xf32>
}

// What differs along other axes is not packed together: a branch depends on the one that is equal on all ranks.
// CHECK-LABEL: func.func @step
// CHECK-COUNT-2: coll.all_gather
// CHECK: scf.if
func.func @step(%z: tensor<2xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>},
                %x: tensor<2xf32> {coll.sharding = #coll.sharding<@m, [["dp", "tp"]]>}) -> tensor<4xf32> {
  %a = coll.all_gather %z dim 0 over @m["dp"] : tensor<2xf32> -> tensor<4xf32>
  %b = coll.all_gather %x dim 0 over @m["dp"] : tensor<2xf32> -> tensor<4xf32>
  %zero = arith.constant 0 : index
  %s = tensor.extract %a[%zero] : tensor<4xf32>
  %half = arith.constant 0.5 : f32
  %p = arith.cmpf ogt, %s, %half : f32
  %r = scf.if %p -> tensor<4xf32> {
    %q = coll.all_reduce max %b over @m["tp"] : tensor<4xf32>
    scf.yield %q : tensor<4xf32>
  } else {
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// What was packed keeps its axes: it is not packed once more with tensors that are equal on all ranks.
// CHECK-LABEL: func.func @packed_before
// CHECK: coll.all_gather %{{.+}} : tensor<4xf32> -> tensor<8xf32>
// CHECK: coll.all_gather %{{.+}} : tensor<4xf32> -> tensor<8xf32>
// CHECK-NOT: coll.all_gather
// CHECK: scf.if
func.func @packed_before(%x: tensor<2xf32> {coll.sharding = #coll.sharding<@m, [["dp", "tp"]]>},
                         %z: tensor<2xf32> {coll.sharding = #coll.sharding<@m, [[]]>}) -> tensor<4xf32> {
  %y = math.exp %x : tensor<2xf32>
  %w = math.exp %z : tensor<2xf32>
  %a = coll.all_gather %x dim 0 over @m["dp"] : tensor<2xf32> -> tensor<4xf32>
  %b = coll.all_gather %y dim 0 over @m["dp"] : tensor<2xf32> -> tensor<4xf32>
  %c = coll.all_gather %z dim 0 over @m["dp"] : tensor<2xf32> -> tensor<4xf32>
  %d = coll.all_gather %w dim 0 over @m["dp"] : tensor<2xf32> -> tensor<4xf32>
  %zero = arith.constant 0 : index
  %s = tensor.extract %c[%zero] : tensor<4xf32>
  %t = tensor.extract %d[%zero] : tensor<4xf32>
  %p = arith.cmpf ogt, %s, %t : f32
  %r = scf.if %p -> tensor<4xf32> {
    %q = coll.all_reduce max %b over @m["tp"] : tensor<4xf32>
    scf.yield %q : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
