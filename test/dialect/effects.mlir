// RUN: coll-opt %s --canonicalize --cse --remove-dead-values | FileCheck %s

coll.mesh @m ["dp" = 4]

// Every rank has to take part, whether it uses the result or not.
// CHECK-LABEL: func.func @unused_collectives_stay
func.func @unused_collectives_stay(%x: tensor<4xf32>, %p: index) {
  // CHECK-NEXT: coll.init
  // CHECK-NEXT: coll.all_reduce
  // CHECK-NEXT: coll.recv
  // CHECK-NEXT: coll.send
  // CHECK-NEXT: coll.barrier
  // CHECK-NEXT: return
  coll.init over @m["dp"]
  %0 = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  %1 = coll.recv from %p over @m["dp"] : tensor<4xf32>
  coll.send %x to %p over @m["dp"] : tensor<4xf32>
  coll.barrier over @m["dp"]
  return
}

// CHECK-LABEL: func.func @equal_collectives_stay
func.func @equal_collectives_stay(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-2: coll.all_reduce
  %0 = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  %1 = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @equal_coordinates_are_one
func.func @equal_coordinates_are_one() -> (index, index) {
  // CHECK-NEXT: %[[I:.+]] = coll.axis_index @m["dp"]
  // CHECK-NEXT: return %[[I]], %[[I]]
  %0 = coll.axis_index @m["dp"]
  %1 = coll.axis_index @m["dp"]
  return %0, %1 : index, index
}
