// What the buffer plan must do correctly: updates in place, swaps, loops.

#include "test/jit/harness.h"

#include <gtest/gtest.h>

using Floats = std::vector<float>;

// Kernels on 4 floats: the result of `add` may use the buffer of either input, `shift` reads
// another element.
static const std::string kKernels = R"(
  func.func private @add(%a: tensor<4xf32> {coll.access = "read", coll.may_alias = array<i64: 0>},
                         %b: tensor<4xf32> {coll.access = "read", coll.may_alias = array<i64: 0>},
                         %d: tensor<4xf32> {coll.access = "write"}) -> tensor<4xf32> {
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%d : tensor<4xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  func.func private @reverse(%a: tensor<4xf32> {coll.access = "read"},
                             %d: tensor<4xf32> {coll.access = "write"}) -> tensor<4xf32> {
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (3 - i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%d : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  func.func private @put(%row: tensor<4xf32> {coll.access = "read"}, %at: index,
                         %d: tensor<3x4xf32> {coll.access = "readwrite"}) -> tensor<3x4xf32> {
    %r = tensor.insert_slice %row into %d[%at, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    return %r : tensor<3x4xf32>
  }
)";

static std::string inClass(const std::string &step) {
  return "coll.program @class0 ranks [0] {" + kKernels + step + "}";
}

TEST(BuffersTest, StateIsUpdatedInPlace) {
  CompiledStep step(inClass(R"(
    func.func @step(%s: tensor<4xf32> {coll.role = "state"}, %x: tensor<4xf32> {coll.role = "batch"})
        -> tensor<4xf32> {
      %d = tensor.empty() : tensor<4xf32>
      %r = func.call @add(%s, %x, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    })"));
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step.arenaBytes(), 0);
  std::vector<Floats> args = {{1, 2, 3, 4}, {10, 20, 30, 40}};
  step.run(args);
  EXPECT_EQ(args[0], (Floats{11, 22, 33, 44}));
  EXPECT_EQ(args[1], (Floats{10, 20, 30, 40}));
}

TEST(BuffersTest, ReadingOtherElementsNeedsAnotherBuffer) {
  CompiledStep step(inClass(R"(
    func.func @step(%s: tensor<4xf32> {coll.role = "state"}) -> tensor<4xf32> {
      %d = tensor.empty() : tensor<4xf32>
      %r = func.call @reverse(%s, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    })"));
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {{1, 2, 3, 4}};
  step.run(args);
  EXPECT_EQ(args[0], (Floats{4, 3, 2, 1}));
}

TEST(BuffersTest, StatesSwap) {
  CompiledStep step(inClass(R"(
    func.func @step(%a: tensor<4xf32> {coll.role = "state"}, %b: tensor<4xf32> {coll.role = "state"},
                    %c: tensor<4xf32> {coll.role = "state"})
        -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
      return %b, %a, %a, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    })"));
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
  auto results = step.run(args);
  EXPECT_EQ(args[0][0], 2);
  EXPECT_EQ(args[1][0], 1);
  EXPECT_EQ(args[2][0], 1);
  EXPECT_EQ(results[3][0], 3);
}

TEST(BuffersTest, OldStateIsStillReadAfterTheUpdate) {
  CompiledStep step(inClass(R"(
    func.func @step(%s: tensor<4xf32> {coll.role = "state"}, %x: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %d = tensor.empty() : tensor<4xf32>
      %new = func.call @add(%s, %x, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %old = func.call @reverse(%s, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %new, %old : tensor<4xf32>, tensor<4xf32>
    })"));
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {{1, 2, 3, 4}, {10, 20, 30, 40}};
  auto results = step.run(args);
  EXPECT_EQ(args[0], (Floats{11, 22, 33, 44}));
  EXPECT_EQ(results[1], (Floats{4, 3, 2, 1}));
}

TEST(BuffersTest, RowsArePutIntoACarriedTensorInPlace) {
  CompiledStep step(inClass(R"(
    func.func @step(%s: tensor<3x4xf32> {coll.role = "state"}, %x: tensor<4xf32>)
        -> (tensor<3x4xf32>, tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %zero = arith.constant dense<0.0> : tensor<4xf32>
      %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %s, %h = %zero)
          -> (tensor<3x4xf32>, tensor<4xf32>) {
        %d = tensor.empty() : tensor<4xf32>
        %n = func.call @add(%h, %x, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %u = func.call @put(%n, %i, %t) : (tensor<4xf32>, index, tensor<3x4xf32>) -> tensor<3x4xf32>
        scf.yield %u, %n : tensor<3x4xf32>, tensor<4xf32>
      }
      return %r#0, %r#1 : tensor<3x4xf32>, tensor<4xf32>
    })"));
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step.arenaBytes(), 0);
  std::vector<Floats> args = {Floats(12), {1, 2, 3, 4}};
  auto results = step.run(args);
  EXPECT_EQ(args[0], (Floats{1, 2, 3, 4, 2, 4, 6, 8, 3, 6, 9, 12}));
  EXPECT_EQ(results[1], (Floats{3, 6, 9, 12}));
}

TEST(BuffersTest, LoopsSwapAndPassThrough) {
  CompiledStep step(inClass(R"(
    func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>, %x: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c3 = arith.constant 3 : i32
      %r:4 = scf.while (%i = %c0, %p = %a, %q = %b, %w = %x)
          : (i32, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (i32, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
        %more = arith.cmpi slt, %i, %c3 : i32
        scf.condition(%more) %i, %p, %q, %w : i32, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
      } do {
      ^bb0(%i: i32, %p: tensor<4xf32>, %q: tensor<4xf32>, %w: tensor<4xf32>):
        %d = tensor.empty() : tensor<4xf32>
        %n = func.call @add(%p, %w, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %j = arith.addi %i, %c1 : i32
        scf.yield %j, %q, %n, %w : i32, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
      }
      return %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>
    })"));
  ASSERT_TRUE(step.ok());
  // (a, b) -> (b, a+x) -> (a+x, b+x) -> (b+x, a+2x)
  std::vector<Floats> args = {{1, 1, 1, 1}, {2, 2, 2, 2}, {10, 20, 30, 40}};
  auto results = step.run(args);
  EXPECT_EQ(results[0], (Floats{12, 22, 32, 42}));
  EXPECT_EQ(results[1], (Floats{21, 41, 61, 81}));
  EXPECT_EQ(args[0], (Floats{1, 1, 1, 1}));
}

TEST(BuffersTest, WhatALoopCarriesIsNotCopied) {
  CompiledStep step(inClass(R"(
    func.func @step(%x: tensor<4xf32>) -> tensor<3x4xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %zero = arith.constant dense<0.0> : tensor<3x4xf32>
      %r:2 = scf.while (%i = %c0, %s = %zero) : (index, tensor<3x4xf32>) -> (index, tensor<3x4xf32>) {
        %more = arith.cmpi slt, %i, %c3 : index
        scf.condition(%more) %i, %s : index, tensor<3x4xf32>
      } do {
      ^bb0(%i: index, %s: tensor<3x4xf32>):
        %n = func.call @put(%x, %i, %s) : (tensor<4xf32>, index, tensor<3x4xf32>) -> tensor<3x4xf32>
        %j = arith.addi %i, %c1 : index
        scf.yield %j, %n : index, tensor<3x4xf32>
      }
      return %r#1 : tensor<3x4xf32>
    })"));
  ASSERT_TRUE(step.ok());
  // Filled, updated and returned in the result's own buffer.
  EXPECT_EQ(step.arenaBytes(), 0);
  std::vector<Floats> args = {{1, 2, 3, 4}};
  EXPECT_EQ(step.run(args)[0], (Floats{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST(BuffersTest, BranchesAndScalars) {
  CompiledStep step(inClass(R"(
    func.func @step(%s: tensor<4xf32> {coll.role = "state"}, %x: tensor<4xf32>) -> tensor<4xf32> {
      %c2 = arith.constant 2 : index
      %zero = arith.constant 0.0 : f32
      %v = tensor.extract %x[%c2] : tensor<4xf32>
      %positive = arith.cmpf ogt, %v, %zero : f32
      %r = scf.if %positive -> tensor<4xf32> {
        %d = tensor.empty() : tensor<4xf32>
        %n = func.call @add(%s, %x, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        scf.yield %n : tensor<4xf32>
      } else {
        scf.yield %s : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    })"));
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {{1, 2, 3, 4}, {10, 20, 30, 40}};
  step.run(args);
  EXPECT_EQ(args[0], (Floats{11, 22, 33, 44}));
  args[1][2] = -1;
  step.run(args);
  EXPECT_EQ(args[0], (Floats{11, 22, 33, 44}));
}

TEST(BuffersTest, ConstantsAndViews) {
  CompiledStep step(inClass(R"(
    func.func @step(%x: tensor<2x2xf32>) -> (tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>) {
      %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %half = arith.constant dense<0.5> : tensor<3x4xf32>
      %c1 = arith.constant 1 : index
      %flat = tensor.collapse_shape %x [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
      %d = tensor.empty() : tensor<4xf32>
      %r = func.call @add(%flat, %c, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %t = func.call @put(%r, %c1, %half) : (tensor<4xf32>, index, tensor<3x4xf32>) -> tensor<3x4xf32>
      return %r, %t, %c : tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>
    })"));
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {{10, 20, 30, 40}};
  auto results = step.run(args);
  EXPECT_EQ(results[0], (Floats{11, 22, 33, 44}));
  EXPECT_EQ(results[1], (Floats{0.5, 0.5, 0.5, 0.5, 11, 22, 33, 44, 0.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(results[2], (Floats{1, 2, 3, 4}));
}
