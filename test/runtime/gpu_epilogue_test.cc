// What products of steps on GPUs compute beside the product, over the fake driver and a fake
// cuBLASLt.

#include "runtime/step/device/contraction.h"
#include "runtime/step/device/gpu/matmul.h"
#include "test/support/fakes/cublaslt.h"
#include "test/support/fakes/cuda.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

namespace coll::rt::test {
namespace {

using kernels::Epilogue;

constexpr float kGuard = 12345;

// The kernel of the runtime, of dense f32.
Status finishPlainly(const Epilogue &e, void *stream) {
  auto run = [e]() -> dl::FakeCuda::Question {
    const bool isGradient = e.function == Epilogue::Function::GeluGradient;
    auto *out = static_cast<float *>(e.out), *kept = static_cast<float *>(e.kept);
    if (kept && isGradient)
      std::fill_n(kept, e.columns, 0.0f);
    for (int64_t at = 0; at < e.rows * e.columns; ++at) {
      const int64_t j = at % e.columns;
      const float x = out[at] + (e.bias ? static_cast<const float *>(e.bias)[j] : 0);
      const float argument = isGradient ? static_cast<const float *>(e.x)[at] : 0;
      out[at] = kernels::epilogue::apply(e.function, x, argument);
      if (kept)
        kept[isGradient ? j : at] = isGradient ? kept[j] + out[at] : x;
    }
    return [] { return true; };
  };
  const dl::CudaResult put = dl::FakeCuda::enqueue(static_cast<dl::CudaStream>(stream), run);
  return put == dl::kCudaSuccess ? Status() : Status(kCollDevice, "enqueue");
}

class GpuEpilogueTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("COLL_CACHE_DIR", "none", /*overwrite=*/1); // algorithms are chosen anew
    Result<std::unique_ptr<gpu::Gpu>> opened =
        gpu::Gpu::open(cuda_.table(), 0, "the test", /*keepsContext=*/false);
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    gpu_ = opened.take();
  }
  void TearDown() override {
    matmuls_.reset();
    EXPECT_EQ(lt_.liveObjects(), 0);
    for (void *data : memory_)
      cuda_.free(data);
    gpu_.reset();
    EXPECT_EQ(cuda_.misuse(), "");
    unsetenv("COLL_CACHE_DIR");
  }

  void create(EpilogueLauncher finish) {
    gpu::Gpu::Scope scope(*gpu_);
    Result<std::unique_ptr<Matmuls>> made = Matmuls::create(lt_.table(), *gpu_, finish);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    matmuls_ = made.take();
  }

  // GPU memory of f32 between -1 and 1.
  float *numbers(int64_t count) {
    auto *data = static_cast<float *>(cuda_.allocate(static_cast<uint64_t>(count) * sizeof(float)));
    for (int64_t i = 0; i < count; ++i)
      data[i] = static_cast<float>((i * 7 + count) % 17 - 8) / 8;
    memory_.push_back(data);
    return data;
  }

  static CollContraction contraction(int32_t epilogue, int64_t m, int64_t n, int64_t k) {
    CollContraction c{};
    c.epilogue = epilogue;
    c.batch = 1, c.m = m, c.n = n, c.k = k;
    c.ld_a = k, c.ld_b = n, c.ld_out = n;
    return c;
  }

  // Runs it, and compares everything that it writes with the host's result.
  void compare(CollContraction c, bool keeps) {
    SCOPED_TRACE(describe(c));
    const bool isGradient = c.epilogue == kCollEpilogueGeluGradient;
    const int64_t numKept = isGradient ? c.n : c.m * c.n;
    float *a = numbers(c.m * c.k), *b = numbers(c.k * c.n), *out = numbers(c.m * c.n);
    float *kept = numbers(numKept + 1); // and a guard
    kept[numKept] = kGuard;
    c.bias = hasBias(c) ? numbers(c.n) : nullptr;
    c.x = isGradient ? numbers(c.m * c.n) : nullptr;
    std::vector<float> expected(static_cast<size_t>(c.m * c.n)), expectedKept(numKept);
    c.kept = keeps ? expectedKept.data() : nullptr;
    ASSERT_TRUE(contractOnHost(c, a, b, expected.data()).ok());
    c.kept = keeps ? kept : nullptr;
    Status status = run(c, a, b, out);
    ASSERT_TRUE(status.ok()) << status.toString();
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(out[i], expected[i], 1e-4 * (1 + std::fabs(expected[i]))) << i;
    for (size_t i = 0; keeps && i < expectedKept.size(); ++i)
      ASSERT_NEAR(kept[i], expectedKept[i], 1e-4 * (1 + std::fabs(expectedKept[i]))) << i;
    EXPECT_EQ(kept[numKept], kGuard);
  }
  void compareAll() {
    for (int32_t epilogue = kCollEpilogueBias; epilogue <= kCollEpilogueGeluGradient; ++epilogue) {
      // One form is large enough that algorithms are timed.
      for (int64_t k : {int64_t{6}, int64_t{131072}})
        compare(contraction(epilogue, 5, 8, k), /*keeps=*/false);
      const CollContraction c = contraction(epilogue, 5, 8, 6);
      if (hasGelu(c) || epilogue == kCollEpilogueGeluGradient)
        compare(c, /*keeps=*/true);
    }
  }

  Status run(const CollContraction &c, const void *a, const void *b, void *out) {
    gpu::Gpu::Scope scope(*gpu_);
    Status status = matmuls_->run(c, a, b, out, gpu_->stream(), /*isCaptured=*/false);
    EXPECT_EQ(cuda_.table().streamSynchronize(gpu_->stream()), dl::kCudaSuccess);
    return status;
  }

  dl::FakeCuda cuda_;
  dl::FakeCublasLt lt_;
  std::unique_ptr<gpu::Gpu> gpu_;
  std::unique_ptr<Matmuls> matmuls_;
  std::vector<void *> memory_;
};

TEST_F(GpuEpilogueTest, TheLibraryIsAskedForWhatTheHostComputes) {
  create([](const Epilogue &, void *) { return Status(kCollDevice, "not by a kernel"); });
  compareAll();
}

TEST_F(GpuEpilogueTest, AKernelFollowsTheProductWhereTheLibraryHasNoAlgorithm) {
  create(finishPlainly);
  for (int32_t epilogue = kCollEpilogueBias; epilogue <= kCollEpilogueGeluGradient; ++epilogue) {
    const CollContraction c = contraction(epilogue, 5, 8, 6);
    lt_.failNext("heuristics", dl::kLtNotSupported);
    compare(c, hasGelu(c) || epilogue == kCollEpilogueGeluGradient);
  }
}

TEST_F(GpuEpilogueTest, EpiloguesOfF64AreTheKernels) {
  create([](const Epilogue &, void *) { return Status(kCollDevice, "by the kernel"); });
  for (int32_t epilogue = kCollEpilogueBias; epilogue <= kCollEpilogueGeluGradient; ++epilogue) {
    CollContraction c = contraction(epilogue, 5, 8, 6);
    c.dtype_a = c.dtype_b = c.dtype_out = kCollF64;
    c.compute = kCollComputeF64;
    c.bias = hasBias(c) ? numbers(2 * c.n) : nullptr;
    c.x = epilogue == kCollEpilogueGeluGradient ? numbers(2 * c.m * c.n) : nullptr;
    const Status status = run(c, numbers(60), numbers(96), numbers(80));
    EXPECT_NE(status.message().find("by the kernel"), std::string::npos) << status.toString();
  }
}

TEST_F(GpuEpilogueTest, WhatNothingComputesNamesTheOption) {
  create([](const Epilogue &, void *) { return Status(kCollUnsupported, "no CUDA"); });
  lt_.failNext("heuristics", dl::kLtNotSupported);
  const CollContraction c = contraction(kCollEpilogueRelu, 5, 8, 6);
  const Status status = run(c, numbers(30), numbers(48), numbers(40));
  EXPECT_EQ(status.code(), kCollUnsupported);
  EXPECT_NE(status.message().find("--fuse-epilogues=off"), std::string::npos) << status.message();
}

} // namespace
} // namespace coll::rt::test
