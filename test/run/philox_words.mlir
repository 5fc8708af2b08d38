// REQUIRES: coll-run
// RUN: coll-run %s --ranks=2 --state-args=0 --print --quiet --check | FileCheck %s

// A state of three words says what the upper half of the counter begins as: with the key
// there, the bits are those of a state of two. What overflows is carried.

func.func @main(%x: tensor<4xf32>) -> (tensor<3xui64>, tensor<i32>, tensor<4xf32>) {
  %two = "stablehlo.constant"() <{value = dense<[7, 18446744073709551614]> : tensor<2xui64>}> : () -> tensor<2xui64>
  %three = "stablehlo.constant"() <{value = dense<[7, 18446744073709551614, 7]> : tensor<3xui64>}> : () -> tensor<3xui64>
  %a:2 = "stablehlo.rng_bit_generator"(%two) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<13xui32>)
  %b:2 = "stablehlo.rng_bit_generator"(%three) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<3xui64>) -> (tensor<3xui64>, tensor<13xui32>)
  %same = "stablehlo.compare"(%a#1, %b#1) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<13xui32>, tensor<13xui32>) -> tensor<13xi1>
  %ones = "stablehlo.convert"(%same) : (tensor<13xi1>) -> tensor<13xi32>
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %count = "stablehlo.reduce"(%ones, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%s) : (tensor<i32>) -> ()
  }) : (tensor<13xi32>, tensor<i32>) -> tensor<i32>
  return %b#0, %count, %x : tensor<3xui64>, tensor<i32>, tensor<4xf32>
}

// CHECK: result_0: i64[3] = [7, 2, 8]
// CHECK: result_1: i32[] = 13
