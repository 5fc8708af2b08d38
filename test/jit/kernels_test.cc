// Kernels: temporaries, element types that are narrower than a float, reductions, batches.

#include "test/jit/harness.h"

#include <gtest/gtest.h>

using Floats = std::vector<float>;

TEST(KernelsTest, LargeTemporariesAreScratch) {
  CompiledStep step(R"(
    func.func private @kernel_0(%a: tensor<4096xf32>, %d: tensor<4096xf32> {coll.access = "write"})
        -> tensor<4096xf32> {
      %e = tensor.empty() : tensor<4096xf32>
      %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%a : tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = arith.addf %x, %x : f32
        linalg.yield %s : f32
      } -> tensor<4096xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (4095 - i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%t : tensor<4096xf32>) outs(%d : tensor<4096xf32>) {
      ^bb0(%x: f32, %o: f32):
        linalg.yield %x : f32
      } -> tensor<4096xf32>
      return %r : tensor<4096xf32>
    }
    func.func @step(%x: tensor<4096xf32>) -> tensor<4096xf32> {
      %d = tensor.empty() : tensor<4096xf32>
      %r = func.call @kernel_0(%x, %d) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
      return %r : tensor<4096xf32>
    })");
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step.arenaBytes(), 4 * 4096);
  std::vector<Floats> args = {Floats(4096)};
  for (int i = 0; i < 4096; ++i)
    args[0][i] = i;
  Floats result = step.run(args)[0];
  for (int i = 0; i < 4096; ++i)
    ASSERT_EQ(result[i], 2 * (4095 - i));
}

TEST(KernelsTest, NarrowElementsBetweenKernels) {
  CompiledStep step(R"(
    func.func private @narrow(%a: tensor<100xf32>, %p: tensor<100xi1> {coll.access = "write"},
        %q: tensor<100xbf16> {coll.access = "write"}) -> (tensor<100xi1>, tensor<100xbf16>) {
      %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%a : tensor<100xf32>)
          outs(%p, %q : tensor<100xi1>, tensor<100xbf16>) {
      ^bb0(%x: f32, %o: i1, %b: bf16):
        %zero = arith.constant 0.0 : f32
        %positive = arith.cmpf ogt, %x, %zero : f32
        %short = arith.truncf %x : f32 to bf16
        %twice = arith.addf %short, %short : bf16
        linalg.yield %positive, %twice : i1, bf16
      } -> (tensor<100xi1>, tensor<100xbf16>)
      return %r#0, %r#1 : tensor<100xi1>, tensor<100xbf16>
    }
    func.func private @widen(%p: tensor<100xi1>, %q: tensor<100xbf16>,
        %d: tensor<100xf32> {coll.access = "write"}) -> tensor<100xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%p, %q : tensor<100xi1>, tensor<100xbf16>)
          outs(%d : tensor<100xf32>) {
      ^bb0(%c: i1, %x: bf16, %o: f32):
        %zero = arith.constant 0.0 : f32
        %long = arith.extf %x : bf16 to f32
        %s = arith.select %c, %long, %zero : f32
        linalg.yield %s : f32
      } -> tensor<100xf32>
      return %r : tensor<100xf32>
    }
    func.func @step(%x: tensor<100xf32>) -> tensor<100xf32> {
      %p = tensor.empty() : tensor<100xi1>
      %q = tensor.empty() : tensor<100xbf16>
      %n:2 = func.call @narrow(%x, %p, %q) : (tensor<100xf32>, tensor<100xi1>, tensor<100xbf16>)
          -> (tensor<100xi1>, tensor<100xbf16>)
      %d = tensor.empty() : tensor<100xf32>
      %r = func.call @widen(%n#0, %n#1, %d) : (tensor<100xi1>, tensor<100xbf16>, tensor<100xf32>) -> tensor<100xf32>
      return %r : tensor<100xf32>
    })");
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {Floats(100)};
  for (int i = 0; i < 100; ++i)
    args[0][i] = 1.5f * (i - 50);
  Floats result = step.run(args)[0];
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(result[i], i > 50 ? 3.0f * (i - 50) : 0) << i;
}

TEST(KernelsTest, ReductionsAlongEitherDimension) {
  CompiledStep step(R"(
    func.func private @rows(%a: tensor<30x40xf32>, %d: tensor<30xf32> {coll.access = "write"}) -> tensor<30xf32> {
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%d : tensor<30xf32>) -> tensor<30xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]} ins(%a : tensor<30x40xf32>) outs(%f : tensor<30xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = arith.addf %o, %x : f32
        linalg.yield %s : f32
      } -> tensor<30xf32>
      return %r : tensor<30xf32>
    }
    func.func private @columns(%a: tensor<30x40xf32>, %d: tensor<40xf32> {coll.access = "write"}) -> tensor<40xf32> {
      %low = arith.constant 0xFF800000 : f32
      %f = linalg.fill ins(%low : f32) outs(%d : tensor<40xf32>) -> tensor<40xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>],
          iterator_types = ["parallel", "reduction"]} ins(%a : tensor<30x40xf32>) outs(%f : tensor<40xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = arith.maximumf %o, %x : f32
        linalg.yield %s : f32
      } -> tensor<40xf32>
      return %r : tensor<40xf32>
    }
    func.func @step(%x: tensor<30x40xf32>) -> (tensor<30xf32>, tensor<40xf32>) {
      %d = tensor.empty() : tensor<30xf32>
      %e = tensor.empty() : tensor<40xf32>
      %r = func.call @rows(%x, %d) : (tensor<30x40xf32>, tensor<30xf32>) -> tensor<30xf32>
      %c = func.call @columns(%x, %e) : (tensor<30x40xf32>, tensor<40xf32>) -> tensor<40xf32>
      return %r, %c : tensor<30xf32>, tensor<40xf32>
    })");
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {Floats(1200)};
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 40; ++j)
      args[0][i * 40 + j] = float(i - j);
  auto results = step.run(args);
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(results[0][i], 40 * i - 780);
  for (int j = 0; j < 40; ++j)
    EXPECT_EQ(results[1][j], 29 - j);
}

TEST(KernelsTest, BatchesThatDoNotCollapseAreLoops) {
  // c[p, q] = a[q, p] * b: the batch dimensions of `a` are swapped.
  CompiledStep step(R"(
    func.func @step(%a: tensor<3x2x1x2xf32>, %b: tensor<2x1xf32>) -> tensor<2x3x1x1xf32> {
      %d = tensor.empty() : tensor<2x3x1x1xf32>
      %r = coll.gemm %a, %b into %d mnk [1, 1, 2] lds [2, 1, 1] batch_sizes [2, 3]
        batch_strides_a [2, 4] batch_strides_b [0, 0] batch_strides_c [3, 1]
        : tensor<3x2x1x2xf32>, tensor<2x1xf32>, tensor<2x3x1x1xf32>
      return %r : tensor<2x3x1x1xf32>
    })");
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {1, 10}};
  EXPECT_EQ(step.run(args)[0], (Floats{21, 65, 109, 43, 87, 131}));
  EXPECT_EQ(step.context.calls.size(), 2u);
}

TEST(KernelsTest, SumsOfBf16AreRoundedOnce) {
  // In bf16 arithmetic the sum would stay at 256: 256 + 1 rounds to 256.
  CompiledStep step(R"(
    func.func private @sum(%a: tensor<1000xf32>, %d: tensor<bf16> {coll.access = "write"}) -> tensor<bf16> {
      %zero = arith.constant 0.0 : bf16
      %f = linalg.fill ins(%zero : bf16) outs(%d : tensor<bf16>) -> tensor<bf16>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
          iterator_types = ["reduction"]} ins(%a : tensor<1000xf32>) outs(%f : tensor<bf16>) {
      ^bb0(%x: f32, %o: bf16):
        %short = arith.truncf %x : f32 to bf16
        %s = arith.addf %o, %short : bf16
        linalg.yield %s : bf16
      } -> tensor<bf16>
      return %r : tensor<bf16>
    }
    func.func private @widen(%a: tensor<bf16>, %d: tensor<f32> {coll.access = "write"}) -> tensor<f32> {
      %r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
          iterator_types = []} ins(%a : tensor<bf16>) outs(%d : tensor<f32>) {
      ^bb0(%x: bf16, %o: f32):
        %long = arith.extf %x : bf16 to f32
        linalg.yield %long : f32
      } -> tensor<f32>
      return %r : tensor<f32>
    }
    func.func @step(%x: tensor<1000xf32>) -> tensor<f32> {
      %d = tensor.empty() : tensor<bf16>
      %e = tensor.empty() : tensor<f32>
      %s = func.call @sum(%x, %d) : (tensor<1000xf32>, tensor<bf16>) -> tensor<bf16>
      %r = func.call @widen(%s, %e) : (tensor<bf16>, tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    })");
  ASSERT_TRUE(step.ok());
  std::vector<Floats> args = {Floats(1000, 1)};
  EXPECT_EQ(step.run(args)[0], (Floats{1000}));
}
