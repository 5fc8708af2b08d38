// Convolutions of steps on GPUs, over the fake driver and a fake cuDNN.

#include "runtime/step/device/gpu/convolve.h"
#include "test/support/fakes/cuda.h"
#include "test/support/fakes/cudnn.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace coll::rt::test {
namespace {

using kernels::Convolution;
using kernels::ConvolutionBuffers;
using Kind = Convolution::Kind;

class GpuConvolutionTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("COLL_CACHE_DIR", "none", /*overwrite=*/1); // engines are chosen anew
    Result<std::unique_ptr<gpu::Gpu>> opened =
        gpu::Gpu::open(cuda_.table(), 0, "the test", /*keepsContext=*/false);
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    gpu_ = opened.take();
    Result<std::unique_ptr<Convolutions>> made = Convolutions::create(dnn_.table(), *gpu_);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    convolutions_ = made.take();
  }

  static Convolution convolution(Kind kind) {
    Convolution c;
    c.kind = kind;
    c.batch = 2, c.groups = 2, c.channels = 3, c.features = 2;
    c.in = {1, 5, 6}, c.window = {1, 3, 2}, c.stride = {1, 2, 1}, c.pad = {0, 1, 0};
    c.out = {1, 3, 5};
    return c;
  }

  // GPU memory of f32 that counts upwards.
  float *numbers(int64_t count) {
    auto *data = static_cast<float *>(cuda_.allocate(static_cast<uint64_t>(count) * sizeof(float)));
    for (int64_t i = 0; i < count; ++i)
      data[i] = static_cast<float>(i % 13 - 6);
    memory_.push_back(data);
    return data;
  }
  ConvolutionBuffers buffersOf(const Convolution &c) {
    return {numbers(c.kind == Kind::Data ? c.numY() : c.numX()),
            numbers(c.kind == Kind::Filter ? c.numY() : c.numW()), numbers(c.numResults())};
  }
  Result<bool> run(const Convolution &c, const ConvolutionBuffers &buffers) {
    gpu::Gpu::Scope scope(*gpu_);
    Result<bool> ran = convolutions_->run(c, buffers, gpu_->stream(), /*isCaptured=*/false);
    EXPECT_EQ(cuda_.table().streamSynchronize(gpu_->stream()), dl::kCudaSuccess);
    return ran;
  }
  void TearDown() override {
    convolutions_.reset();
    EXPECT_EQ(dnn_.liveObjects(), 0);
    for (void *data : memory_)
      cuda_.free(data);
    gpu_.reset();
    EXPECT_EQ(cuda_.misuse(), "");
  }

  dl::FakeCuda cuda_;
  dl::FakeCudnn dnn_;
  std::unique_ptr<gpu::Gpu> gpu_;
  std::unique_ptr<Convolutions> convolutions_;
  std::vector<void *> memory_;
};

TEST_F(GpuConvolutionTest, EachKindIsDescribedAsItIsMeant) {
  for (Kind kind : {Kind::Forward, Kind::Data, Kind::Filter}) {
    const Convolution c = convolution(kind);
    SCOPED_TRACE(describe(c));
    const ConvolutionBuffers buffers = buffersOf(c);
    std::vector<float> expected(static_cast<size_t>(c.numResults()));
    kernels::convolutionReference(c, {buffers.a, buffers.b, expected.data()});
    Result<bool> ran = run(c, buffers);
    ASSERT_TRUE(ran.ok()) << ran.status().toString();
    EXPECT_TRUE(*ran);
    const auto *got = static_cast<const float *>(buffers.result);
    EXPECT_EQ(std::vector<float>(got, got + expected.size()), expected);
  }
}

TEST_F(GpuConvolutionTest, EnginesWithoutAnOrderAndThoseThatCannotBeMadeAreLeftOut) {
  const Convolution c = convolution(Kind::Forward);
  Result<bool> ran = run(c, buffersOf(c));
  ASSERT_TRUE(ran.ok()) << ran.status().toString();
  EXPECT_GE(dnn_.lastEngine(), 13);
}

TEST_F(GpuConvolutionTest, TheEngineThatNeedsEvenPaddingIsLeftOutElsewhere) {
  dnn_.numberEnginesFrom(-1); // the first that works is engine 1
  Convolution c = convolution(Kind::Filter);
  for (auto [rows, expected] : {std::pair(3, 1), {2, 2}}) { // the last row of padding is not read
    c.out[1] = rows;
    gpu::Gpu::Scope scope(*gpu_);
    Result<bool> ran = convolutions_->run(c, buffersOf(c), gpu_->stream(), /*isCaptured=*/true);
    ASSERT_TRUE(ran.ok()) << ran.status().toString();
    EXPECT_EQ(cuda_.table().streamSynchronize(gpu_->stream()), dl::kCudaSuccess);
    EXPECT_EQ(dnn_.lastEngine(), expected) << rows;
  }
}

TEST_F(GpuConvolutionTest, TheEngineIsChosenOnce) {
  Convolution c = convolution(Kind::Data);
  c.batch = 3; // a form that no other test of this process has chosen for
  const ConvolutionBuffers buffers = buffersOf(c);
  ASSERT_TRUE(run(c, buffers).ok());
  const int64_t executed = dnn_.calls("execute");
  EXPECT_GT(executed, 1) << "engines are timed";
  ASSERT_TRUE(run(c, buffers).ok());
  EXPECT_EQ(dnn_.calls("execute"), executed + 1);
}

TEST_F(GpuConvolutionTest, AFormWithoutAnEngineIsLeftToTheCaller) {
  dnn_.loseEngines();
  const Convolution c = convolution(Kind::Filter);
  Result<bool> ran = run(c, buffersOf(c));
  ASSERT_TRUE(ran.ok()) << ran.status().toString();
  EXPECT_FALSE(*ran);
}

TEST_F(GpuConvolutionTest, FailuresNameTheCallOfTheLibrary) {
  const Convolution c = convolution(Kind::Forward);
  const ConvolutionBuffers buffers = buffersOf(c);
  ASSERT_TRUE(run(c, buffers).ok());
  dnn_.failNext("execute", 5000);
  const Status status = run(c, buffers).status();
  EXPECT_EQ(status.code(), kCollDevice);
  EXPECT_EQ(status.message(), "cudnnBackendExecute: CUDNN_STATUS_OTHER");
}

} // namespace
} // namespace coll::rt::test
