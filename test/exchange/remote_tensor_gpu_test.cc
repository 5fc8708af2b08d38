// Remote tensors of GPU memory between processes: over a fake driver, which makes it of shared
// memory, and on the machine's GPUs.

#include "runtime/dl/fake_cuda.h"
#include "runtime/exchange/remote_tensor.h"
#include "runtime/exchange/tensor_owner.h"
#include "test/exchange/owner_process.h"

#include <gtest/gtest.h>
#include <numeric>
#include <vector>

namespace coll::rt::exchange::test {
namespace {

// A GPU of a driver that tests play, or of the machine; made after the process has been forked.
struct Gpu {
  Gpu(bool isReal, int ordinal) {
    if (!isReal)
      fake = std::make_unique<dl::FakeCuda>(2);
    Result<const dl::Cuda *> cuda = isReal ? dl::cuda() : &fake->table();
    int count = 0;
    if (!cuda || (*cuda)->deviceGetCount(&count) != dl::kCudaSuccess || count == 0) {
      whyNot = cuda ? "no GPU on this machine" : cuda.status().message();
      return;
    }
    context = dl::GpuContext::open(**cuda, ordinal % count).take();
    staging = dl::GpuMemory::create(context, dl::GpuMemory::Kind::Pinned, 4096).take();
  }
  ~Gpu() {
    staging = {};
    context.reset();
    if (fake) {
      EXPECT_EQ(fake->misuse(), "");
    }
  }
  // Up to 1,024 numbers.
  void put(int32_t *to, const std::vector<int32_t> &numbers) {
    std::copy(numbers.begin(), numbers.end(), reinterpret_cast<int32_t *>(staging.host()));
    onStream([&](dl::CudaStream stream) {
      return context->cuda().memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(to), staging.host(),
                                             numbers.size() * 4, stream);
    });
  }
  std::vector<int32_t> get(const int32_t *from, size_t count) {
    onStream([&](dl::CudaStream stream) {
      return context->cuda().memcpyDtoHAsync(
          staging.host(), reinterpret_cast<dl::CudaAddress>(from), count * 4, stream);
    });
    const auto *numbers = reinterpret_cast<const int32_t *>(staging.host());
    return {numbers, numbers + count};
  }
  template <typename Body>
  void onStream(Body body) {
    dl::CudaScope scope(context->cuda(), context->context());
    dl::CudaStream stream = nullptr;
    EXPECT_EQ(context->cuda().streamCreate(&stream, dl::kCudaStreamNonBlocking), 0);
    EXPECT_EQ(body(stream), 0);
    EXPECT_EQ(context->cuda().streamSynchronize(stream), 0);
    EXPECT_EQ(context->cuda().streamDestroy(stream), 0);
  }

  std::unique_ptr<dl::FakeCuda> fake;
  std::shared_ptr<dl::GpuContext> context;
  dl::GpuMemory staging;
  std::string whyNot;
};

constexpr int64_t kGpuBytes = 2 << 20; // what the fake driver lets others open
const std::string kSkip = "SKIP ";

std::vector<int32_t> counted(size_t count) {
  std::vector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Publishes the numbers 0 to 59 as 3 x 4 x 5, and expects the last to be -7 in the end.
void ownGpuMemory(bool isReal, bool byDescriptor, int out, int in) {
  Gpu gpu(isReal, 0);
  if (!gpu.whyNot.empty())
    return say(out, kSkip + gpu.whyNot);
  TensorOwnerOptions options;
  options.gpu = gpu.context;
  auto owner = TensorOwner::create(options).take();
  auto memory =
      byDescriptor
          ? dl::GpuMemory()
          : dl::GpuMemory::create(gpu.context, dl::GpuMemory::Kind::Device, kGpuBytes).take();
  auto *data = reinterpret_cast<int32_t *>(byDescriptor ? owner->allocateGpu(kGpuBytes).take()
                                                        : memory.device());
  gpu.put(data, counted(60));
  say(out, owner->publish({kCollI32, {3, 4, 5}, {}, data, nullptr}, {true, false}));
  waitForEnd(in);
  if (gpu.get(data, 60).back() != -7 || testing::Test::HasFailure())
    _exit(9);
}

void accessGpuMemory(Gpu &gpu, OwnerProcess &process) {
  RemoteTensorsOptions options;
  options.gpu = gpu.context;
  RemoteTensors remote(options);
  auto opened = remote.open(process.handle);
  ASSERT_TRUE(opened.ok()) << opened.status().toString() << ": " << process.handle;
  auto memory = dl::GpuMemory::create(gpu.context, dl::GpuMemory::Kind::Device, kGpuBytes).take();
  auto *local = reinterpret_cast<int32_t *>(memory.device());
  gpu.put(local, std::vector<int32_t>(60, -1));
  // A middle part, into a layout with gaps.
  Status status = (*opened)->readInto({kCollI32, {3, 2, 3}, {16, 5, 1}, local, nullptr},
                                      {Via::Ipc, Region{{0, 1, 2}, {3, 2, 3}}});
  ASSERT_TRUE(status.ok()) << status.toString();
  std::vector<int32_t> expected(60, -1);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 3; ++k)
        expected[static_cast<size_t>(16 * i + 5 * j + k)] = 20 * i + 5 * (j + 1) + k + 2;
  EXPECT_EQ(gpu.get(local, 60), expected);
  gpu.put(local, {-7});
  const TensorAccess last = {Via::Auto, Region{{2, 3, 4}, {1, 1, 1}}};
  status = (*opened)->writeFrom({kCollI32, {1, 1, 1}, {}, local, nullptr}, last);
  ASSERT_TRUE(status.ok()) << status.toString();
  int32_t host = 0;
  EXPECT_EQ((*opened)->readInto({kCollI32, {1, 1, 1}, {}, &host, nullptr}, last).code(),
            kCollInvalidCall);
  RemoteTensors blind{RemoteTensorsOptions()};
  const TensorView whole = {kCollI32, {3, 4, 5}, {}, local, nullptr};
  EXPECT_EQ(blind.open(process.handle).take()->readInto(whole).code(), kCollUnsupported);
  EXPECT_EQ(process.end(0), 0);
  EXPECT_EQ((*opened)->readInto(whole).code(), kCollPeer);
}

void runOn(bool isReal, bool byDescriptor) {
  OwnerProcess process([&](int out, int in) { ownGpuMemory(isReal, byDescriptor, out, in); });
  if (process.handle.compare(0, kSkip.size(), kSkip) == 0) {
    process.end(0);
    GTEST_SKIP() << process.handle.substr(kSkip.size());
  }
  Gpu gpu(isReal, 1);
  ASSERT_EQ(gpu.whyNot, "");
  accessGpuMemory(gpu, process);
}

TEST(RemoteTensorProcessTest, GpuMemoryIsOpenedByIpc) { runOn(false, /*byDescriptor=*/false); }
TEST(RemoteTensorProcessTest, GpuMemoryIsOpenedByDescriptor) { runOn(false, true); }

// In a process that forks first: where the driver has been, its children cannot use it.
void runInChild(bool byDescriptor) {
  const pid_t pid = fork();
  if (pid == 0) {
    runOn(/*isReal=*/true, byDescriptor);
    _exit(testing::Test::HasFailure() ? 1 : testing::Test::IsSkipped() ? 77 : 0);
  }
  int state = 0;
  waitpid(pid, &state, 0);
  ASSERT_TRUE(WIFEXITED(state));
  if (WEXITSTATUS(state) == 77)
    GTEST_SKIP() << "no GPU here";
  EXPECT_EQ(WEXITSTATUS(state), 0);
}

TEST(RemoteTensorCudaTest, MemoryOfCudaMallocIsOpenedByIpc) { runInChild(false); }
TEST(RemoteTensorCudaTest, VmmMemoryIsOpenedByDescriptor) { runInChild(true); }

} // namespace
} // namespace coll::rt::exchange::test
