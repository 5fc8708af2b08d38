// The same tests on a real GPU; skipped if there is none.

#include "runtime/dl/cuda.h"
#include "runtime/kernels/pages/pack.h"
#include "runtime/kernels/pages/unpack.h"

#include "test/net/device_harness.h"

namespace coll::net::test {
namespace {

using rt::dl::Cuda;
using rt::dl::CudaScope;

class GpuTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    auto cuda = rt::dl::cuda();
    if (!cuda.ok())
      GTEST_SKIP() << cuda.status().message();
    cuda_ = *cuda;
    ASSERT_EQ(cuda_->primaryContextRetain(&context_, 0), rt::dl::kCudaSuccess);
    ASSERT_EQ(cuda_->contextSetCurrent(context_), rt::dl::kCudaSuccess);
    ASSERT_EQ(cuda_->streamCreate(&stream_, rt::dl::kCudaStreamNonBlocking), rt::dl::kCudaSuccess);
  }
  void TearDown() override {
    if (!cuda_)
      return;
    (void)cuda_->streamDestroy(stream_);
    (void)cuda_->contextSetCurrent(nullptr);
    (void)cuda_->primaryContextRelease(0);
  }

  std::unique_ptr<DeviceTransport> make(const DeviceOptions &options) {
    return createDeviceTransport(makeBelow(GetParam()), *cuda_, options).take();
  }
  uint64_t allocate(uint64_t bytes) {
    uint64_t address = 0;
    EXPECT_EQ(cuda_->memAlloc(&address, bytes), rt::dl::kCudaSuccess);
    return address;
  }
  void write(uint64_t to, const std::vector<uint8_t> &data) {
    ASSERT_EQ(cuda_->memcpyHtoDAsync(to, data.data(), data.size(), stream_), rt::dl::kCudaSuccess);
    ASSERT_EQ(cuda_->streamSynchronize(stream_), rt::dl::kCudaSuccess);
  }
  std::vector<uint8_t> read(uint64_t from, uint64_t bytes) {
    std::vector<uint8_t> data(bytes);
    EXPECT_EQ(cuda_->memcpyDtoHAsync(data.data(), from, bytes, stream_), rt::dl::kCudaSuccess);
    EXPECT_EQ(cuda_->streamSynchronize(stream_), rt::dl::kCudaSuccess);
    return data;
  }
  // Runs one launch of pack or unpack; kCollUnsupported if this build has no kernels.
  template <typename Handle, typename Launch>
  Status kernel(const DeviceHandle *handle, uint64_t bounceBytes, uint64_t buffer, uint64_t bytes,
                Launch launch) {
    kernels::MessageCopy<Handle> message;
    message.handle = static_cast<Handle *>(handle->handle);
    message.version = handle->version;
    message.bounceBytes = bounceBytes;
    message.buffer = reinterpret_cast<void *>(buffer);
    message.bufferBytes = bytes;
    COLL_RETURN_IF_ERROR(launch(message, stream_));
    return cudaStatus(*cuda_, cuda_->streamSynchronize(stream_), "the kernel");
  }

  const Cuda *cuda_ = nullptr;
  rt::dl::CudaContext context_ = nullptr;
  rt::dl::CudaStream stream_ = nullptr;
};

TEST_P(GpuTest, HostCopiesBothWays) {
  DeviceOptions options;
  options.receive = ReceivePath::Host;
  auto left = make(options), right = make(options);
  Ends ends = connectEnds(*left, *right);
  uint64_t from = allocate(kMaxDeviceMessageBytes), to = allocate(kMaxDeviceMessageBytes);
  auto region = [](uint64_t at) {
    return MemoryRegion{reinterpret_cast<void *>(at), kMaxDeviceMessageBytes, MemoryKind::Cuda, -1,
                        0};
  };
  auto out = left->regMr(0, region(from)), in = right->regMr(0, region(to));
  ASSERT_TRUE(out.ok() && in.ok());
  for (uint64_t bytes : messageSizes()) {
    std::vector<uint8_t> data = pattern(bytes, bytes + 1);
    write(from, data);
    Segment source{reinterpret_cast<void *>(from), bytes, *out};
    Segment target{reinterpret_cast<void *>(to), bytes, *in};
    Result<Request *> wanted = ends.right->irecv(&target, 1, 1);
    Result<Request *> sent = ends.left->isend(&source, 1, 1);
    ASSERT_TRUE(wanted.ok() && sent.ok());
    expectDone(*ends.left, *sent, bytes);
    expectDone(*ends.right, *wanted, bytes);
    EXPECT_EQ(read(to, bytes), data);
  }
  EXPECT_EQ(right->stats().stagedReceives, messageSizes().size());
  left->deregMr(*out);
  right->deregMr(*in);
  (void)cuda_->memFree(from);
  (void)cuda_->memFree(to);
}

TEST_P(GpuTest, KernelsPackAndUnpack) {
  for (bool scatter : {false, true}) {
    DeviceOptions options;
    options.send = SendPath::Pack;
    options.scatter = scatter;
    DeviceOptions unpacking = options;
    unpacking.receive = ReceivePath::Unpack;
    auto left = make(options), right = make(unpacking);
    Ends ends = connectEnds(*left, *right);
    uint64_t from = allocate(kMaxDeviceMessageBytes), to = allocate(kMaxDeviceMessageBytes);
    auto all = [](DeviceTransport &transport) {
      return transport.regMr(0, {nullptr, ~uint64_t(0), MemoryKind::Cuda, -1, 0}).take();
    };
    Memory *out = all(*left), *in = all(*right);
    uint64_t bounceBytes = right->bounceStats(0).limitBytes;
    for (uint64_t bytes : messageSizes()) {
      std::vector<uint8_t> data = pattern(bytes, bytes + 2);
      write(from, data);
      Segment source{reinterpret_cast<void *>(from), bytes, out};
      Segment target{reinterpret_cast<void *>(to), kMaxDeviceMessageBytes, in};
      Result<Request *> wanted = ends.right->irecv(&target, 1, 1);
      Result<Request *> sent = ends.left->isend(&source, 1, 1);
      ASSERT_TRUE(wanted.ok() && sent.ok());
      Status packed = kernel<rt::PackHandle>(ends.left->packHandle(), bounceBytes, from,
                                             kMaxDeviceMessageBytes, kernels::launchPackNext);
      if (packed.code() == kCollUnsupported)
        GTEST_SKIP() << packed.message();
      ASSERT_TRUE(packed.ok()) << packed.message();
      expectDone(*ends.left, *sent, bytes);
      expectDone(*ends.right, *wanted, bytes);
      Status unpacked = kernel<rt::UnpackHandle>(ends.right->deviceHandle(), bounceBytes, to,
                                                 kMaxDeviceMessageBytes, kernels::launchUnpackNext);
      ASSERT_TRUE(unpacked.ok()) << unpacked.message();
      ends.right->consumed();
      EXPECT_EQ(read(to, bytes), data) << bytes;
    }
    EXPECT_EQ(right->stats().unpackedMessages, messageSizes().size());
    left->deregMr(out);
    right->deregMr(in);
    (void)cuda_->memFree(from);
    (void)cuda_->memFree(to);
  }
}

INSTANTIATE_TEST_SUITE_P(Device, GpuTest, testing::Values("loopback", "tcp"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace coll::net::test
