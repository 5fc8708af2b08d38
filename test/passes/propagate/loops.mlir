// RUN: coll-opt %s --split-input-file --coll-propagate | FileCheck %s

// A gradient that a loop accumulates from zero is carried partial.
// CHECK-LABEL: @accumulated
// CHECK: scf.for
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}, partial sum ["dp"]>]}
module @accumulated {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%sum = %zero) -> tensor<4xf32> {
      %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
      %s = arith.addf %sum, %a : tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    }
    return %r : tensor<4xf32>
  }
}

// -----

// A carried value that the body needs whole is combined in every iteration.
// CHECK-LABEL: @needed
// CHECK: scf.for
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}>]}
module @needed {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%sum = %zero) -> tensor<4xf32> {
      %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
      %e = math.exp %sum : tensor<4xf32>
      %s = arith.addf %e, %a : tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    }
    return %r : tensor<4xf32>
  }
}

// -----

// A recurrence over time keeps its batch split, in the carried value and in its start.
// CHECK-LABEL: @recurrence
// CHECK: arith.constant {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]} dense<0.0
// CHECK: scf.while
// CHECK: attributes {coll.shardings = [unit, #coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
module @recurrence {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<8x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant dense<0.0> : tensor<8x4xf32>
    %n, %r = scf.while (%i = %c0, %h = %zero) : (index, tensor<8x4xf32>) -> (index, tensor<8x4xf32>) {
      %more = arith.cmpi slt, %i, %c5 : index
      scf.condition(%more) %i, %h : index, tensor<8x4xf32>
    } do {
    ^bb0(%i: index, %h: tensor<8x4xf32>):
      %next = arith.addi %i, %c1 : index
      %s = arith.addf %h, %x : tensor<8x4xf32>
      scf.yield %next, %s : index, tensor<8x4xf32>
    }
    return %r : tensor<8x4xf32>
  }
}

// -----

// Where one branch splits its value and the other does not, the other takes its part.
// CHECK-LABEL: @branches
// CHECK: scf.if
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\]\]}}>]}
module @branches {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>},
                  %y: tensor<8xf32>, %p: i1) -> tensor<8xf32> {
    %r = scf.if %p -> tensor<8xf32> {
      scf.yield %x : tensor<8xf32>
    } else {
      scf.yield %y : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }
}

// -----

// Branches that split a dimension differently keep what their axes begin with.
// CHECK-LABEL: @branches_prefix
// CHECK: scf.if
// CHECK: } {coll.shardings = [#coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
module @branches_prefix {
  coll.mesh @m ["dp" = 2, "a" = 2, "b" = 2]
  func.func @step(%x: tensor<8x8xf32> {coll.sharding = #coll.sharding<@m, [["dp", "a"], []]>},
                  %y: tensor<8x8xf32> {coll.sharding = #coll.sharding<@m, [["dp", "b"], []]>},
                  %p: i1) -> tensor<8x8xf32> {
    %r = scf.if %p -> tensor<8x8xf32> {
      scf.yield %x : tensor<8x8xf32>
    } else {
      scf.yield %y : tensor<8x8xf32>
    }
    return %r : tensor<8x8xf32>
  }
}

// -----

// A condition that forwards something else than the carried values: they are carried
// unchanged, and what it computed is computed where it is used.
// CHECK-LABEL: @forwarded
// CHECK: %[[W:.*]]:2 = scf.while (%[[I:.*]] = %{{.*}}, %[[H:.*]] = %{{.*}})
// CHECK: scf.condition(%{{.*}}) %[[I]], %[[H]]
// CHECK: attributes {coll.shardings = [unit, #coll.sharding<@m, {{\[\["dp"\], \[\]\]}}>]}
// CHECK: arith.negf %[[W]]#1
module @forwarded {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<8x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant dense<0.0> : tensor<8x4xf32>
    %r, %n = scf.while (%i = %c0, %h = %zero) : (index, tensor<8x4xf32>) -> (tensor<8x4xf32>, index) {
      %more = arith.cmpi slt, %i, %c5 : index
      %m = arith.negf %h : tensor<8x4xf32>
      scf.condition(%more) %m, %i : tensor<8x4xf32>, index
    } do {
    ^bb0(%h: tensor<8x4xf32>, %i: index):
      %next = arith.addi %i, %c1 : index
      %s = arith.addf %h, %x : tensor<8x4xf32>
      scf.yield %next, %s : index, tensor<8x4xf32>
    }
    return %r : tensor<8x4xf32>
  }
}

// -----

// A sum from zero whose exponential is carried: only in the first iteration is it zero that the
// contributions are added to, so they are combined before.
// CHECK-LABEL: @zero_at_first
// CHECK: arith.addf {{.*}} {coll.shardings = [#coll.sharding<@m, {{\[\[\]\]}}>]}
module @zero_at_first {
  coll.mesh @m ["dp" = 2]
  func.func @step(%x: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>})
      -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant dense<0.0> : tensor<4xf32>
    %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%start = %zero) -> tensor<4xf32> {
      %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
      %s = arith.addf %start, %a : tensor<4xf32>
      %e = math.exp %s : tensor<4xf32>
      scf.yield %e : tensor<4xf32>
    }
    return %r : tensor<4xf32>
  }
}
