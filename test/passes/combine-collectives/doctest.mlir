// RUN: coll-opt %s --coll-combine-collectives | FileCheck %s
// RUN: coll-opt %s --coll-combine-collectives=bytes=0 | FileCheck %s --check-prefix=OFF

// What uses the first sum moves behind the second; the loop's reduction waits for it and stays alone.

coll.mesh @m ["dp" = 4]

// OFF-COUNT-3: = coll.all_reduce sum %{{[a-z0-9]+}} over @m["dp"]
// OFF-NOT: coll.start

// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.+]]: tensor<8xf32>, %[[Y:.+]]: tensor<3xf32>)
func.func @step(%x: tensor<8xf32>, %y: tensor<3xf32>) -> (tensor<8xf32>, tensor<3xf32>) {
  // CHECK-NEXT: %[[NY:.+]] = math.exp %[[Y]]
  // CHECK-NEXT: %[[F:.+]] = coll.start ins(%[[X]], %[[NY]] : tensor<8xf32>, tensor<3xf32>) {
  // CHECK: coll.all_reduce sum
  // CHECK: coll.all_reduce sum
  // CHECK: coll.yield
  // CHECK: %[[R:.+]]:2 = coll.await %[[F]]
  // CHECK-NEXT: %[[U:.+]] = math.exp %[[R]]#0
  // CHECK-NEXT: %[[V:.+]] = coll.all_reduce sum %[[U]] over @m["dp"]
  // CHECK-NEXT: return %[[V]], %[[R]]#1
  %s = coll.all_reduce sum %x over @m["dp"] : tensor<8xf32>
  %u = math.exp %s : tensor<8xf32>
  %v = coll.all_reduce sum %u over @m["dp"] : tensor<8xf32>
  %e = math.exp %y : tensor<3xf32>
  %t = coll.all_reduce sum %e over @m["dp"] : tensor<3xf32>
  return %v, %t : tensor<8xf32>, tensor<3xf32>
}
