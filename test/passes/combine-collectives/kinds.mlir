// RUN: coll-opt %s --coll-combine-collectives=bytes=160 | FileCheck %s
// RUN: coll-opt %s --coll-combine-collectives=bytes=160 --coll-verify-ranks -o %t

coll.mesh @m ["dp" = 2, "tp" = 2]

// Each group, reduction, type, order and accumulation has buckets of its own.
// CHECK-LABEL: func.func @alike
// CHECK-COUNT-2: coll.all_reduce sum %{{.+}} over @m["dp"] : tensor<4xf32>
// CHECK: coll.await
// CHECK-COUNT-2: coll.all_reduce sum %{{.+}} over @m["tp"] : tensor<4xf32>
// CHECK: coll.await
// CHECK-COUNT-2: coll.all_reduce max %{{.+}} over @m["dp"] : tensor<4xf32>
// CHECK: coll.await
// CHECK-COUNT-2: coll.all_reduce sum %{{.+}} over @m["dp"] order rank : tensor<4xf32>
// CHECK: coll.await
// CHECK-COUNT-2: coll.all_reduce sum in f32 %{{.+}} over @m["dp"] : tensor<4xf16>
// CHECK: coll.await
// CHECK-NOT: coll.start
// CHECK: coll.all_reduce sum %{{.+}} over @m["dp"] : tensor<4xf16>
func.func @alike(%x: tensor<4xf32>, %y: tensor<4xf32>, %h: tensor<4xf16>, %k: tensor<4xf16>) {
  %0 = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  %1 = coll.all_reduce sum %x over @m["tp"] : tensor<4xf32>
  %2 = coll.all_reduce max %x over @m["dp"] : tensor<4xf32>
  %3 = coll.all_reduce sum %x over @m["dp"] order rank : tensor<4xf32>
  %4 = coll.all_reduce sum in f32 %h over @m["dp"] : tensor<4xf16>
  %5 = coll.all_reduce sum %y over @m["dp"] : tensor<4xf32>
  %6 = coll.all_reduce sum %y over @m["tp"] : tensor<4xf32>
  %7 = coll.all_reduce max %y over @m["dp"] : tensor<4xf32>
  %8 = coll.all_reduce sum %y over @m["dp"] order rank : tensor<4xf32>
  %9 = coll.all_reduce sum in f32 %k over @m["dp"] : tensor<4xf16>
  %10 = coll.all_reduce sum %k over @m["dp"] : tensor<4xf16>
  return
}

// Of 160 bytes: 64 for each but the last. What is larger stays alone.
// CHECK-LABEL: func.func @full
// CHECK: coll.start
// CHECK-COUNT-3: coll.all_reduce sum %{{.+}} over @m["dp"] : tensor<{{[0-9]}}xf32>
// CHECK: coll.await
// CHECK: %{{.+}} = coll.all_reduce sum %{{.+}} over @m["dp"] : tensor<41xf32>
// CHECK: coll.start
// CHECK-COUNT-2: coll.all_reduce sum %{{.+}} over @m["dp"] : tensor<{{[0-9]}}xf32>
// CHECK: coll.await
func.func @full(%a: tensor<1xf32>, %b: tensor<2xf32>, %c: tensor<3xf32>, %l: tensor<41xf32>,
                %d: tensor<4xf32>, %e: tensor<5xf32>) {
  %0 = coll.all_reduce sum %a over @m["dp"] : tensor<1xf32>
  %1 = coll.all_reduce sum %b over @m["dp"] : tensor<2xf32>
  %2 = coll.all_reduce sum %c over @m["dp"] : tensor<3xf32>
  %3 = coll.all_reduce sum %l over @m["dp"] : tensor<41xf32>
  %4 = coll.all_reduce sum %d over @m["dp"] : tensor<4xf32>
  %5 = coll.all_reduce sum %e over @m["dp"] : tensor<5xf32>
  return
}

// Buckets over two groups, each of which one of the other needs: the second pair stays apart.
// CHECK-LABEL: func.func @crossed
// CHECK: coll.start
// CHECK-COUNT-2: over @m["dp"]
// CHECK: coll.await
// CHECK-NOT: coll.start
// CHECK: return
func.func @crossed(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a0 = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  %b0 = coll.all_reduce sum %a0 over @m["tp"] : tensor<4xf32>
  %b1 = coll.all_reduce sum %y over @m["tp"] : tensor<4xf32>
  %a1 = coll.all_reduce sum %b1 over @m["dp"] : tensor<4xf32>
  return %b0, %a1 : tensor<4xf32>, tensor<4xf32>
}

// Each block for itself; a value from outside that only a region uses orders the loop behind it.
// CHECK-LABEL: func.func @loop
// CHECK: coll.start
// CHECK-COUNT-2: coll.all_reduce
// CHECK: %[[R:.+]]:2 = coll.await
// CHECK: scf.for
// CHECK: coll.start
// CHECK-COUNT-2: coll.all_reduce
// CHECK: coll.await
// CHECK: arith.addf %{{.+}}, %[[R]]#0
func.func @loop(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %a = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %y) -> tensor<4xf32> {
    %p = coll.all_reduce sum %v over @m["dp"] : tensor<4xf32>
    %q = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
    %s = arith.addf %p, %a : tensor<4xf32>
    %t = arith.addf %s, %q : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  %b = coll.all_reduce sum %y over @m["dp"] : tensor<4xf32>
  %t = arith.addf %r, %b : tensor<4xf32>
  return %t : tensor<4xf32>
}

// Ranks that take different sides of a branch make the same calls only if both are left as they are.
// CHECK-LABEL: func.func @branch
// CHECK-NOT: coll.start
// CHECK: return
func.func @branch(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %position = coll.axis_index @m["dp"]
  %first = arith.cmpi eq, %position, %c0 : index
  %r = scf.if %first -> tensor<4xf32> {
    %a = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
    %b = coll.all_reduce sum %y over @m["dp"] : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } else {
    %a = coll.all_reduce sum %x over @m["dp"] : tensor<4xf32>
    %s = arith.addf %a, %y : tensor<4xf32>
    %b = coll.all_reduce sum %s over @m["dp"] : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Nothing is sent of what has no elements.
// CHECK-LABEL: func.func @empty
// CHECK-NOT: coll.start
// CHECK: return
func.func @empty(%x: tensor<0xf32>, %y: tensor<4xf32>) {
  %a = coll.all_reduce sum %x over @m["dp"] : tensor<0xf32>
  %b = coll.all_reduce sum %y over @m["dp"] : tensor<4xf32>
  return
}

// Outside of functions nothing is combined.
// CHECK: arith.constant
// CHECK-NOT: coll.start
%outside = arith.constant dense<1.0> : tensor<4xf32>
%0 = coll.all_reduce sum %outside over @m["dp"] : tensor<4xf32>
%1 = coll.all_reduce sum %outside over @m["dp"] : tensor<4xf32>
