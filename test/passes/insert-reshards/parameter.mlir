// RUN: coll-opt %s --coll-propagate --coll-insert-reshards 2>/dev/null | FileCheck %s
// RUN: coll-opt %s --coll-propagate --coll-insert-reshards -o %t 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not="whole: gathered"

coll.mesh @m ["dp" = 4]

// A parameter that is split where the batch is, as fsdp does, is gathered on purpose: nothing advises against it. The
// reason names the parameter, also after operations on its elements, and the operation as JAX does.
// CHECK-LABEL: @gathered_on_purpose
// CHECK-NOT: avoid
// CHECK: coll.why = "dot_general needs dimension 0 of params/w whole"
func.func @gathered_on_purpose(
    %w: tensor<8x4xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>, coll.role = "state", coll.name = "params['w']"},
    %x: tensor<1024x8xf32> {coll.sharding = #coll.sharding<@m, [["dp"], []]>, coll.role = "batch", coll.name = "x"})
    -> tensor<1024x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<1024x4xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                                        affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1024x8xf32>, tensor<8x4xf32>) outs(%zero : tensor<1024x4xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1024x4xf32> loc("jit(step)/jvp()/dot_general")
  return %p : tensor<1024x4xf32>
}

// CHECK-LABEL: @sorted_on_purpose
// CHECK-NOT: avoid
// CHECK: coll.why = "coll.sort needs dimension 0 of params/w whole"
func.func @sorted_on_purpose(
    %w: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>, coll.role = "state", coll.name = "params['w']"},
    %x: tensor<16xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>, coll.role = "batch", coll.name = "x"})
    -> tensor<8xf32> {
  %e = math.exp %w : tensor<8xf32>
  %s = coll.sort %e dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<8xf32>
  return %s : tensor<8xf32>
}

// Where the batch is whole, all ranks repeat what follows.
// CHECK-LABEL: @repeated
// CHECK: avoid = "--shard='params/w: [-]'
func.func @repeated(
    %w: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>, coll.role = "state", coll.name = "params['w']"},
    %x: tensor<16xf32> {coll.sharding = #coll.sharding<@m, [[]]>, coll.role = "batch", coll.name = "x"})
    -> tensor<8xf32> {
  // REMARK: [[@LINE+1]]:8: remark: needs dimension 0 of operand 'tensor<8xf32>' whole: gathered over "dp", 32 bytes; from here on 4 ranks do the same work
  %s = coll.sort %w dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<8xf32>
  return %s : tensor<8xf32>
}

// A value that follows from the batch is not the parameter.
// CHECK-LABEL: @activations
// CHECK: coll.why = "coll.sort needs dimension 0 whole"
func.func @activations(
    %w: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>, coll.role = "state", coll.name = "params['w']"},
    %x: tensor<8xf32> {coll.sharding = #coll.sharding<@m, [["dp"]]>, coll.role = "batch", coll.name = "x"})
    -> tensor<8xf32> {
  %p = arith.mulf %w, %x : tensor<8xf32>
  // REMARK: [[@LINE+1]]:8: remark: needs dimension 0 of operand 'tensor<8xf32>' whole: gathered
  %s = coll.sort %p dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<8xf32>
  return %s : tensor<8xf32>
}
