// Calls of the runtime, the descriptor, rank classes.

#include "test/jit/harness.h"

#include <gtest/gtest.h>

using Floats = std::vector<float>;

TEST(JitTest, AllReduceAndGemm) {
  CompiledStep step(R"(
    coll.mesh @m ["dp" = 2]
    coll.program @class0 ranks [0, 1] {
      func.func @step(%w: tensor<2x2xf32> {coll.role = "state", coll.name = "w"}, %x: tensor<2x2xf32>)
          -> (tensor<2x2xf32>, tensor<2x2xf32>) {
        %d = tensor.empty() : tensor<2x2xf32>
        %g = coll.gemm %x, %w into %d mnk [2, 2, 2] lds [2, 2, 2]
          : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
        %r = coll.all_reduce sum %g over @m["dp"] {coll.why = "gradient"} : tensor<2x2xf32>
            loc("train.py":12:3)
        return %r, %x : tensor<2x2xf32>, tensor<2x2xf32>
      }
    })");
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {{1, 2, 3, 4}, {1, 0, 0, 1}};
  auto results = step.run(args);
  EXPECT_EQ(step.status, 0);
  EXPECT_EQ(args[0], (Floats{2, 4, 6, 8}));
  EXPECT_EQ(results[1], (Floats{1, 0, 0, 1}));
  EXPECT_EQ(step.context.calls, (std::vector<std::string>{"gemm", "all_reduce"}));
  const llvm::json::Object &op = *(*step.descriptor().getArray("ops"))[0].getAsObject();
  EXPECT_EQ(*op.getString("kind"), "all_reduce");
  EXPECT_EQ(*op.getString("loc"), "train.py:12:3");
  EXPECT_EQ(*op.getString("why"), "gradient");
  EXPECT_EQ(*op.getInteger("bytes"), 16);
}

TEST(JitTest, StatusIsReturnedAtOnce) {
  CompiledStep step(R"(
    coll.program @class0 ranks [0, 1] {
      func.func @step(%x: tensor<2xf32> {coll.role = "state"}) -> tensor<2xf32> {
        %a = coll.all_reduce sum %x over [[0, 1]] : tensor<2xf32>
        %b = coll.all_reduce sum %a over [[0, 1]] : tensor<2xf32>
        coll.barrier over [[0, 1]]
        return %b : tensor<2xf32>
      }
    })");
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {{1, 2}};
  step.context.failAt = 1;
  step.run(args);
  EXPECT_EQ(step.status, kCollPeer);
  EXPECT_EQ(step.context.calls.size(), 2u);
}

TEST(JitTest, OtherAbiVersionIsRefused) {
  CompiledStep step(R"(
    func.func @step(%x: tensor<2xf32> {coll.role = "state"}) -> tensor<2xf32> {
      coll.barrier over [[0]]
      return %x : tensor<2xf32>
    })");
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {{1, 2}};
  step.abiVersion = kCollAbiVersion + 1;
  step.run(args);
  EXPECT_EQ(step.status, kCollInvalidCall);
  EXPECT_TRUE(step.context.calls.empty());
}

TEST(JitTest, StartAndWait) {
  CompiledStep step(R"(
    coll.program @class0 ranks [0, 1] {
      func.func private @kernel_0(%a: tensor<4xf32> {coll.access = "read"},
                                  %d: tensor<4xf32> {coll.access = "write"}) -> tensor<4xf32> {
        %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
            iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%d : tensor<4xf32>) {
        ^bb0(%x: f32, %o: f32):
          %s = arith.addf %x, %x : f32
          linalg.yield %s : f32
        } -> tensor<4xf32>
        return %r : tensor<4xf32>
      }
      func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
        %d = tensor.empty() : tensor<4xf32>
        %g = func.call @kernel_0(%x, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %sum = coll.start ins(%g : tensor<4xf32>) {
        ^bb0(%a: tensor<4xf32>):
          %s = coll.all_reduce sum %a over [[0, 1]] : tensor<4xf32>
          coll.yield %s : tensor<4xf32>
        } : !coll.future<tensor<4xf32>>
        %f = tensor.empty() : tensor<4xf32>
        %h = func.call @kernel_0(%y, %f) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %r = coll.await %sum : !coll.future<tensor<4xf32>>
        return %r, %h : tensor<4xf32>, tensor<4xf32>
      }
    })");
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  auto results = step.run(args);
  EXPECT_EQ(results[0], (Floats{4, 8, 12, 16}));
  EXPECT_EQ(results[1], (Floats{10, 12, 14, 16}));
  EXPECT_EQ(step.context.calls, (std::vector<std::string>{"start all_reduce", "wait"}));
  EXPECT_EQ(step.arenaBytes(), 0) << "source and destination share the result's buffer";
}

TEST(JitTest, RanksOfAMeshAndTwoClasses) {
  CompiledStep step(R"(
    coll.mesh @m ["dp" = 2, "tp" = 3]
    coll.program @class0 ranks [0, 2 to 5] {
      func.func private @kernel_0(%i: index, %j: index, %d: tensor<2xf32> {coll.access = "write"})
          -> tensor<2xf32> {
        %ii = arith.index_cast %i : index to i32
        %jj = arith.index_cast %j : index to i32
        %fi = arith.sitofp %ii : i32 to f32
        %fj = arith.sitofp %jj : i32 to f32
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %r0 = tensor.insert %fi into %d[%c0] : tensor<2xf32>
        %r1 = tensor.insert %fj into %r0[%c1] : tensor<2xf32>
        return %r1 : tensor<2xf32>
      }
      func.func @step(%x: tensor<2xf32>) -> tensor<2xf32> {
        %i = coll.axis_index @m["dp"]
        %j = coll.axis_index @m["tp", "dp"]
        %d = tensor.empty() : tensor<2xf32>
        %r = func.call @kernel_0(%i, %j, %d) : (index, index, tensor<2xf32>) -> tensor<2xf32>
        return %r : tensor<2xf32>
      }
    }
    coll.program @class1 ranks [1] {
      func.func @step(%x: tensor<2xf32>) -> tensor<2xf32> {
        return %x : tensor<2xf32>
      }
    })");
  ASSERT_TRUE(step.ok());
  ASSERT_EQ(step.numClasses(), 2u);
  EXPECT_EQ(llvm::json::Value(llvm::json::Array(*step.descriptor(0).getArray("ranks"))),
            *llvm::json::parse("[[0,0],[2,5]]"));
  step.context.rank = 5; // dp 1, tp 2
  std::vector<Floats> args = {{0, 0}};
  EXPECT_EQ(step.run(args)[0], (Floats{1, 5}));
}
