// REQUIRES: coll-run
// DEFINE: %{tokens} = batch_0_0=f4[6,2]:iota batch_0_1=f4[6,2]:iota
// DEFINE: %{npz} = %python %S/inputs/npz.py %t.npz %{tokens}
// DEFINE: %{run} = coll-run %s --data=%t.npz --print --quiet
// DEFINE: %{net} = coll-run %s --data=%t.npz --print --quiet --backend=net

// Four experts on two ranks: 0 and 1 on rank 0, 2 and 3 on rank 1.
// RUN: %{npz} batch_0_2=i4[6,2]:0,1,3,0,-1,-1,2,-1,1,2,-1,3
// RUN: %{run} | FileCheck %s
// RUN: %if net %{ %{net} | FileCheck %s %}
// RUN: %if net %{ %{net} --processes --ranks=2 | FileCheck %s %}

// Rank 1 has no token for anyone, and gets none.
// RUN: %{npz} batch_0_2=i4[6,2]:1,-1,-1,0,-1,-1,-1,-1,-1,-1,-1,-1
// RUN: %{run} | FileCheck %s --check-prefix=ALONE
// RUN: %if net %{ %{net} | FileCheck %s --check-prefix=ALONE %}

// Numbers that are none, and more tokens than there is room for, end the job with the reason.
// RUN: %{npz} batch_0_2=i4[6,2]:0,1,0,1,0,1,0,1,0,4,0,1
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: %if net %{ not %{net} --processes --ranks=2 2>&1 | FileCheck %s --check-prefix=RANGE %}
// RUN: %{npz} batch_0_2=i4[6,2]:0,1,0,1,2,2,0,1,0,1,0,1
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: %{npz} batch_0_2=i4[6,2]:0,1,0,1,0,1,0,1,0,1,0,3
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: %if net %{ not %{net} --processes --ranks=2 2>&1 | FileCheck %s --check-prefix=FULL %}

coll.mesh @m ["x" = 2]

#rows = #coll.sharding<@m, [["x"], []]>
#list = #coll.sharding<@m, [["x"]]>

func.func @step(
    %x: tensor<3x2xf32> {coll.name = "x", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<6x2xf32>},
    %w: tensor<3x2xf32> {coll.name = "w", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<6x2xf32>},
    %e: tensor<3x2xi32> {coll.name = "e", coll.role = "batch", coll.sharding = #rows, coll.global_type = tensor<6x2xi32>})
    -> (tensor<5x2xf32> {coll.name = "rows", coll.sharding = #rows, coll.global_type = tensor<10x2xf32>},
        tensor<5x2xi32> {coll.name = "experts", coll.sharding = #rows, coll.global_type = tensor<10x2xi32>},
        tensor<5x2xf32> {coll.name = "weights", coll.sharding = #rows, coll.global_type = tensor<10x2xf32>},
        tensor<2xi32> {coll.name = "counts", coll.sharding = #list, coll.global_type = tensor<4xi32>},
        tensor<3x2xf32> {coll.name = "combined", coll.sharding = #rows, coll.global_type = tensor<6x2xf32>}) {
  // RANGE: dispatch{{.*}}dispatch.mlir:[[# @LINE + 5]]:{{.*}} on rank {{[01]}}: token 1 of rank 1 names expert 4, but there are 4
  // TWICE: dispatch{{.*}}dispatch.mlir:[[# @LINE + 4]]:{{.*}} on rank {{[01]}}: token 2 of rank 0 names expert 2 twice
  // FULL: dispatch{{.*}}dispatch.mlir:[[# @LINE + 3]]:{{.*}} on rank {{[01]}}: 6 tokens come to rank 0, which has a capacity of 5
  %rows, %row_experts, %row_weights, %counts, %route =
      // The location is that of the operation's name.
      coll.dispatch %x to %e weights %w local_experts 2 capacity 5 over @m["x"]
      : tensor<3x2xf32>, tensor<3x2xi32>, tensor<3x2xf32>
  %y = coll.combine %rows along %route : tensor<5x2xf32>, !coll.route<3 topk 2 to 5 over @m["x"]>
  return %rows, %row_experts, %row_weights, %counts, %y
      : tensor<5x2xf32>, tensor<5x2xi32>, tensor<5x2xf32>, tensor<2xi32>, tensor<3x2xf32>
}

// CHECK: rows: f32[10, 2] = {{\[\[}}0, 1], [2, 3], [8, 9], [0, 0], [0, 0], [2, 3], [6, 7], [8, 9], [10, 11], [0, 0]]
// CHECK: experts: i32[10, 2] = {{\[\[}}0, 1], [-1, 0], [1, -1], [-1, -1], [-1, -1], [1, -1], [0, -1], [-1, 0], [-1, 1], [-1, -1]]
// CHECK: weights: f32[10, 2] = {{\[\[}}0, 1], [0, 3], [8, 0], [0, 0], [0, 0], [2, 0], [6, 0], [0, 9], [0, 11], [0, 0]]
// CHECK: counts: i32[4] = [2, 2, 2, 2]
// CHECK: combined: f32[6, 2] = {{\[\[}}0, 1], [4, 6], [0, 0], [6, 7], [16, 18], [10, 11]]

// ALONE: rows: f32[10, 2] = {{\[\[}}0, 1], [2, 3], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]]
// ALONE: experts: i32[10, 2] = {{\[\[}}1, -1], [-1, 0], [-1, -1], {{.*}}
// ALONE: counts: i32[4] = [1, 1, 0, 0]
// ALONE: combined: f32[6, 2] = {{\[\[}}0, 1], [2, 3], [0, 0], [0, 0], [0, 0], [0, 0]]
