// Convolutions and their gradients by cuDNN on this machine's GPU, compared with the host's
// reference. Everything is skipped without a GPU or cuDNN.

#include "runtime/base/dtype.h"
#include "runtime/program/made_up.h"
#include "runtime/step/device/gpu/convolve.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace coll::rt::test {
namespace {

using kernels::Convolution;
using kernels::ConvolutionBuffers;
using Kind = Convolution::Kind;

struct Case {
  const char *name;
  int64_t batch, groups, channels, features;
  Convolution::Sizes in, window, stride, dilation, pad;
  int64_t cut = 0; // last positions of y that are left out
};
constexpr Case kCases[] = {
    {"three by three", 2, 1, 16, 32, {1, 14, 14}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {"strided", 2, 1, 32, 64, {1, 15, 15}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
    {"seven by seven of images",
     2,
     1,
     3,
     64,
     {1, 32, 32},
     {1, 7, 7},
     {1, 2, 2},
     {1, 1, 1},
     {0, 3, 3}},
    {"one by one, strided", 2, 1, 64, 32, {1, 14, 14}, {1, 1, 1}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}},
    {"dilated", 2, 1, 12, 8, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {1, 2, 2}, {0, 2, 2}},
    {"groups", 2, 4, 8, 8, {1, 10, 10}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {"depthwise", 2, 8, 1, 2, {1, 12, 12}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {"odd channels", 3, 1, 5, 7, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {"one dimension", 4, 1, 8, 16, {1, 1, 40}, {1, 1, 5}, {1, 1, 2}, {1, 1, 1}, {0, 0, 2}},
    {"three dimensions", 2, 1, 8, 8, {6, 7, 8}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}},
    {"padded on one side", 2, 1, 16, 16, {1, 8, 8}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, -1},
};

struct Type {
  CollDtype dtype;
  bool tf32;
  double tolerance; // of the largest value
};
constexpr Type kTypes[] = {{kCollF32, false, 3e-6},
                           {kCollF32, true, 4e-3},
                           {kCollBf16, false, 1.6e-2},
                           {kCollF16, false, 2e-3},
                           {kCollF64, false, 1e-13}};

Convolution convolutionOf(const Case &from, const Type &type, Kind kind) {
  Convolution c;
  c.dtype = type.dtype, c.tf32 = type.tf32, c.kind = kind;
  c.batch = from.batch, c.groups = from.groups, c.channels = from.channels;
  c.features = from.features;
  c.in = from.in, c.window = from.window, c.stride = from.stride;
  c.dilation = from.dilation, c.pad = from.pad;
  for (size_t d = 0; d < c.out.size(); ++d)
    c.out[d] = (c.in[d] + 2 * c.pad[d] - (c.window[d] - 1) * c.dilation[d] - 1) / c.stride[d] + 1 -
               (c.in[d] > 1 ? from.cut : 0);
  return c;
}

std::vector<char> randomOf(CollDtype dtype, int64_t elems, Random &random) {
  std::vector<char> data(static_cast<size_t>(elems * dtypeSize(dtype)));
  for (int64_t i = 0; i < elems; ++i) {
    const double value = 2 * random.uniform() - 1;
    if (dtype == kCollF64)
      reinterpret_cast<double *>(data.data())[i] = value;
    else if (dtype == kCollF32)
      reinterpret_cast<float *>(data.data())[i] = static_cast<float>(value);
    else
      reinterpret_cast<uint16_t *>(data.data())[i] = dtype == kCollF16
                                                         ? f32ToF16(static_cast<float>(value))
                                                         : f32ToBf16(static_cast<float>(value));
  }
  return data;
}

double valueOf(const std::vector<char> &data, CollDtype dtype, size_t i) {
  if (dtype == kCollF64)
    return reinterpret_cast<const double *>(data.data())[i];
  if (dtype == kCollF32)
    return static_cast<double>(reinterpret_cast<const float *>(data.data())[i]);
  const uint16_t bits = reinterpret_cast<const uint16_t *>(data.data())[i];
  return static_cast<double>(dtype == kCollF16 ? f16ToF32(bits) : bf16ToF32(bits));
}

class ConvolutionsOnGpuTest : public testing::Test {
protected:
  void SetUp() override {
    Result<const dl::Cuda *> cuda = dl::cuda();
    Result<const dl::Cudnn *> dnn = dl::cudnn();
    if (!cuda || !dnn)
      GTEST_SKIP() << (cuda ? dnn.status() : cuda.status()).message();
    Result<std::unique_ptr<gpu::Gpu>> opened =
        gpu::Gpu::open(**cuda, 0, "the test", /*keepsContext=*/false);
    if (!opened)
      GTEST_SKIP() << opened.status().message();
    gpu_ = opened.take();
    gpu::Gpu::Scope scope(*gpu_);
    Result<std::unique_ptr<Convolutions>> made = Convolutions::create(**dnn, *gpu_);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    convolutions_ = made.take();
    for (dl::GpuMemory &memory : memory_)
      memory = dl::GpuMemory::create(gpu_->context(), dl::GpuMemory::Kind::Device, kRoom).take();
  }

  void copy(void *to, const void *from, size_t bytes) {
    auto address = [](const void *data) { return reinterpret_cast<dl::CudaAddress>(data); };
    ASSERT_EQ(gpu_->cuda().memcpyAsync(address(to), address(from), bytes, gpu_->stream()),
              dl::kCudaSuccess);
    ASSERT_EQ(gpu_->cuda().streamSynchronize(gpu_->stream()), dl::kCudaSuccess);
  }

  // Returns the result on the GPU, or nothing if cuDNN has no engine.
  std::vector<char> compute(const Convolution &c, const std::vector<char> &a,
                            const std::vector<char> &b) {
    copy(memory_[0].device(), a.data(), a.size());
    copy(memory_[1].device(), b.data(), b.size());
    const ConvolutionBuffers buffers{memory_[0].device(), memory_[1].device(), memory_[2].device()};
    Result<bool> ran = convolutions_->run(c, buffers, gpu_->stream(), /*isCaptured=*/false);
    EXPECT_TRUE(ran.ok()) << ran.status().toString();
    if (!ran || !*ran)
      return {};
    std::vector<char> got(static_cast<size_t>(c.numResults() * dtypeSize(c.dtype)));
    copy(got.data(), memory_[2].device(), got.size());
    return got;
  }

  static constexpr int64_t kRoom = 64 << 20;
  std::unique_ptr<gpu::Gpu> gpu_;
  std::unique_ptr<Convolutions> convolutions_;
  dl::GpuMemory memory_[3];
};

TEST_F(ConvolutionsOnGpuTest, EveryTypeAndGradientMatchesTheHost) {
  gpu::Gpu::Scope scope(*gpu_);
  std::string without;
  int ran = 0;
  for (const Case &from : kCases)
    for (const Type &type : kTypes)
      for (Kind kind : {Kind::Forward, Kind::Data, Kind::Filter}) {
        const Convolution c = convolutionOf(from, type, kind);
        SCOPED_TRACE(std::string(from.name) + ": " + describe(c));
        Random random(7);
        const auto a = randomOf(c.dtype, kind == Kind::Data ? c.numY() : c.numX(), random);
        const auto b = randomOf(c.dtype, kind == Kind::Filter ? c.numY() : c.numW(), random);
        const std::vector<char> got = compute(c, a, b);
        if (got.empty()) {
          without += "\n  " + describe(c);
          continue;
        }
        ++ran;
        std::vector<char> expected(got.size());
        kernels::convolutionReference(c, {a.data(), b.data(), expected.data()});
        double delta = 0, largest = 0;
        for (size_t i = 0; i < static_cast<size_t>(c.numResults()); ++i) {
          const double wanted = valueOf(expected, c.dtype, i);
          delta = std::max(delta, std::fabs(valueOf(got, c.dtype, i) - wanted));
          largest = std::max(largest, std::fabs(wanted));
        }
        EXPECT_LE(delta, type.tolerance * largest);
        EXPECT_EQ(compute(c, a, b), got) << "the second run differs";
      }
  EXPECT_GT(ran, 0);
  std::printf("%d forms ran; cuDNN has no engine for:%s\n", ran, without.c_str());
}

} // namespace
} // namespace coll::rt::test
