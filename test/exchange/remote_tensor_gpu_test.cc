// Remote tensors of GPU memory between processes: over a fake driver, whose GPU memory is shared
// memory, and on the machine's GPUs.

#include "runtime/exchange/tensor/owner.h"
#include "runtime/exchange/tensor/remote_tensor.h"
#include "runtime/net/tcp/tcp.h"
#include "test/exchange/owner_process.h"
#include "test/support/fakes/cuda.h"

#include <chrono>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

namespace coll::rt::exchange::test {
namespace {

// A GPU of a fake driver, or of the machine; created after the process has been forked.
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
  // Another GPU of the same driver.
  Gpu(const Gpu &beside, int ordinal) {
    const dl::Cuda &cuda = beside.context->cuda();
    int count = 0;
    EXPECT_EQ(cuda.deviceGetCount(&count), dl::kCudaSuccess);
    context = dl::GpuContext::open(cuda, ordinal % count).take();
    staging = dl::GpuMemory::create(context, dl::GpuMemory::Kind::Pinned, 4096).take();
  }
  ~Gpu() {
    staging = {};
    context.reset();
    if (fake) {
      EXPECT_EQ(fake->misuse(), "");
    }
  }
  // Writes up to 1,024 numbers.
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

// The kind of the owner's memory, and how others access it.
enum class Way { IpcOfMalloc, IpcOfDescriptor, TcpOfMalloc, TcpOfDescriptor };
bool isByDescriptor(Way way) { return way == Way::IpcOfDescriptor || way == Way::TcpOfDescriptor; }
bool isByTcp(Way way) { return way == Way::TcpOfMalloc || way == Way::TcpOfDescriptor; }

std::unique_ptr<net::Transport> tcpFor(Way way) {
  net::TcpOptions options;
  options.iface = "lo";
  return isByTcp(way) ? net::createTcpTransport(options, std::nullopt).take() : nullptr;
}

constexpr int64_t kGpuBytes = 2 << 20; // what the fake driver lets others open
const std::string kSkip = "SKIP ";

std::vector<int32_t> counted(size_t count) {
  std::vector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Publishes the numbers 0 to 59 as 3 x 4 x 5, and expects that the last one is -7 at the end.
void ownGpuMemory(bool isReal, Way way, int out, int in) {
  Gpu gpu(isReal, 0);
  if (!gpu.whyNot.empty())
    return say(out, kSkip + gpu.whyNot);
  auto transport = tcpFor(way);
  const bool byDescriptor = isByDescriptor(way);
  TensorOwnerOptions options;
  options.gpu = gpu.context;
  options.transport = transport.get();
  auto owner = TensorOwner::create(options).take();
  auto memory =
      byDescriptor
          ? dl::GpuMemory()
          : dl::GpuMemory::create(gpu.context, dl::GpuMemory::Kind::Device, kGpuBytes).take();
  auto *data = reinterpret_cast<int32_t *>(byDescriptor ? owner->allocateGpu(kGpuBytes).take()
                                                        : memory.device());
  gpu.put(data, counted(60));
  say(out, owner->publish({kCollI32, {3, 4, 5}, {}, data, nullptr}, {!isByTcp(way), isByTcp(way)}));
  waitForEnd(in);
  if (gpu.get(data, 60).back() != -7 || testing::Test::HasFailure())
    _exit(9);
}

void accessGpuMemory(Gpu &gpu, Way way, OwnerProcess &process) {
  auto transport = tcpFor(way);
  RemoteTensorsOptions options;
  options.gpu = gpu.context;
  options.transport = transport.get();
  RemoteTensors remote(options);
  auto opened = remote.open(process.handle);
  ASSERT_TRUE(opened.ok()) << opened.status().toString() << ": " << process.handle;
  auto memory = dl::GpuMemory::create(gpu.context, dl::GpuMemory::Kind::Device, kGpuBytes).take();
  auto *local = reinterpret_cast<int32_t *>(memory.device());
  gpu.put(local, std::vector<int32_t>(60, -1));
  // A middle part, into a layout with gaps.
  Status status =
      (*opened)->readInto({kCollI32, {3, 2, 3}, {16, 5, 1}, local, nullptr},
                          {isByTcp(way) ? Via::Rdma : Via::Ipc, Region{{0, 1, 2}, {3, 2, 3}}});
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
  // A copy to host memory is not possible by mapping, but over a transport.
  int32_t host = 0;
  EXPECT_EQ((*opened)->readInto({kCollI32, {1, 1, 1}, {}, &host, nullptr}, last).code(),
            isByTcp(way) ? kCollOk : kCollUnsupported);
  EXPECT_EQ(host, isByTcp(way) ? -7 : 0);
  RemoteTensors blind{RemoteTensorsOptions()};
  const TensorView whole = {kCollI32, {3, 4, 5}, {}, local, nullptr};
  EXPECT_EQ(blind.open(process.handle).take()->readInto(whole).code(), kCollUnsupported);
  EXPECT_EQ(process.end(0), 0);
  const CollCode code = (*opened)->readInto(whole).code();
  EXPECT_TRUE(code == kCollPeer || (isByTcp(way) && code == kCollLink)) << code;
}

void runOn(bool isReal, Way way) {
  OwnerProcess process([&](int out, int in) { ownGpuMemory(isReal, way, out, in); });
  if (process.handle.compare(0, kSkip.size(), kSkip) == 0) {
    process.end(0);
    GTEST_SKIP() << process.handle.substr(kSkip.size());
  }
  Gpu gpu(isReal, 1);
  ASSERT_EQ(gpu.whyNot, "");
  accessGpuMemory(gpu, way, process);
}

TEST(RemoteTensorProcessTest, GpuMemoryIsOpenedByIpc) { runOn(false, Way::IpcOfMalloc); }
TEST(RemoteTensorProcessTest, GpuMemoryIsOpenedByDescriptor) { runOn(false, Way::IpcOfDescriptor); }
TEST(RemoteTensorProcessTest, GpuMemoryIsServedOverTcp) { runOn(false, Way::TcpOfMalloc); }
TEST(RemoteTensorProcessTest, VmmMemoryIsServedOverTcp) { runOn(false, Way::TcpOfDescriptor); }

// The owner is killed while chunks are in flight.
TEST(RemoteTensorProcessTest, AKilledOwnerEndsAServedAccess) {
  constexpr int64_t kElems = 4 << 20;
  OwnerProcess process([&](int out, int in) {
    Gpu gpu(false, 0);
    auto transport = tcpFor(Way::TcpOfMalloc);
    auto owner = TensorOwner::create({"child", transport.get(), 0, gpu.context}).take();
    auto memory =
        dl::GpuMemory::create(gpu.context, dl::GpuMemory::Kind::Device, 4 * kElems).take();
    say(out, owner->publish({kCollI32, {kElems}, {}, memory.device(), nullptr}, {false, true}));
    waitForEnd(in);
  });
  Gpu gpu(false, 1);
  auto transport = tcpFor(Way::TcpOfMalloc);
  RemoteTensorsOptions options;
  options.gpu = gpu.context;
  options.transport = transport.get();
  options.timeoutUs = 20'000'000;
  RemoteTensors remote(options);
  auto tensor = remote.open(process.handle).take();
  auto memory = dl::GpuMemory::create(gpu.context, dl::GpuMemory::Kind::Device, 4 * kElems).take();
  const TensorView local = {kCollI32, {kElems}, {}, memory.device(), nullptr};
  ASSERT_TRUE(tensor->readInto(local).ok());
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(process.pid, SIGKILL);
  });
  Status status;
  for (int i = 0; i < 10'000 && status.ok(); ++i)
    status = i % 2 ? tensor->readInto(local) : tensor->writeFrom(local);
  killer.join();
  EXPECT_TRUE(status.code() == kCollPeer || status.code() == kCollLink) << status.toString();
  EXPECT_NE(status.message().find("the tensor of \"child\": rdma: "), std::string::npos);
  EXPECT_FALSE(tensor->readInto(local).ok());
  process.end(0);
}

// Tensors with many elements, known at both ends.
struct Ends {
  explicit Ends(bool isReal) : elems((isReal ? 256 << 20 : kGpuBytes) / 4) {}
  void put(Gpu &gpu, int32_t *data) const {
    gpu.put(data, known);
    gpu.put(data + elems - 1024, known);
  }
  bool areIn(Gpu &gpu, const int32_t *data) const {
    return gpu.get(data, 1024) == known && gpu.get(data + elems - 1024, 1024) == known;
  }
  TensorView view(int32_t *data) const { return {kCollI32, {elems}, {}, data, nullptr}; }
  int64_t bytes() const { return 4 * elems; }

  const int64_t elems;
  const std::vector<int32_t> known = counted(1024);
};

void ownEnds(bool isReal, Way way, int out, int in) {
  Gpu gpu(isReal, 0);
  if (!gpu.whyNot.empty())
    return say(out, kSkip + gpu.whyNot);
  const Ends ends(isReal);
  auto owner = TensorOwner::create({"child", nullptr, 0, gpu.context}).take();
  dl::GpuMemory memory;
  if (!isByDescriptor(way))
    memory = dl::GpuMemory::create(gpu.context, dl::GpuMemory::Kind::Device, ends.bytes()).take();
  auto *data = reinterpret_cast<int32_t *>(
      isByDescriptor(way) ? owner->allocateGpu(ends.bytes()).take() : memory.device());
  ends.put(gpu, data);
  say(out, owner->publish(ends.view(data), {true, false}));
  waitForEnd(in);
}

// Returns the status that ends the accesses of a tensor whose owner is killed meanwhile, or okay
// after ten seconds.
Status accessUntilKilled(RemoteTensor &tensor, const TensorView &local, pid_t owner) {
  std::thread killer([owner] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    kill(owner, SIGKILL);
  });
  Status status;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (int i = 0; status.ok() && std::chrono::steady_clock::now() < end; ++i)
    status = i % 2 ? tensor.writeFrom(local) : tensor.readInto(local);
  killer.join();
  return status;
}

// Reads and writes the owner's memory, which is mapped here, until the owner is killed: each access
// moves everything, or fails and names the owner. Afterwards nothing is mapped any more, and this
// process's GPU is unchanged.
void accessEnds(Gpu &gpu, const Ends &ends, OwnerProcess &process) {
  RemoteTensors remote({nullptr, 0, gpu.context});
  auto tensor = remote.open(process.handle).take();
  auto memory =
      dl::GpuMemory::create(gpu.context, dl::GpuMemory::Kind::Device, ends.bytes()).take();
  auto *data = reinterpret_cast<int32_t *>(memory.device());
  const TensorView local = ends.view(data);
  const Status first = tensor->readInto(local);
  ASSERT_TRUE(first.ok()) << first.toString();
  const Status status = accessUntilKilled(*tensor, local, process.pid);
  EXPECT_EQ(process.end(0), -SIGKILL);
  EXPECT_EQ(status.code(), kCollPeer) << status.toString();
  EXPECT_NE(
      status.message().find("the tensor of \"child\": ipc: the owner has withdrawn it, or has "
                            "ended"),
      std::string::npos)
      << status.message();
  EXPECT_FALSE(tensor->isMapped());
  EXPECT_TRUE(ends.areIn(gpu, data));
  ends.put(gpu, data);
  const Status later = tensor->writeFrom(local, {Via::Ipc, {}});
  EXPECT_EQ(later.code(), kCollLink);
  EXPECT_EQ(later.message(),
            "write to the tensor of \"child\": ipc: the owner is not on this node, "
            "or has ended");
}

void runKilledOwner(bool isReal, Way way) {
  OwnerProcess process([&](int out, int in) { ownEnds(isReal, way, out, in); });
  if (process.handle.compare(0, kSkip.size(), kSkip) == 0) {
    process.end(0);
    GTEST_SKIP() << process.handle.substr(kSkip.size());
  }
  Gpu gpu(isReal, 1);
  ASSERT_EQ(gpu.whyNot, "");
  const int64_t before = isReal ? 0 : gpu.fake->liveAllocations();
  accessEnds(gpu, Ends(isReal), process);
  if (!isReal) {
    EXPECT_EQ(gpu.fake->liveAllocations(), before);
  }
}

TEST(RemoteTensorProcessTest, AKilledOwnerEndsAccessByIpc) {
  runKilledOwner(false, Way::IpcOfMalloc);
}
TEST(RemoteTensorProcessTest, AKilledOwnerEndsAccessByDescriptor) {
  runKilledOwner(false, Way::IpcOfDescriptor);
}

// Two tensors of 60 numbers in one allocation, like those of the allocators of frameworks: the
// driver has one handle for both.
void runTwoOfOneBlock(bool isReal) {
  OwnerProcess process([&](int out, int in) {
    Gpu gpu(isReal, 0);
    if (!gpu.whyNot.empty())
      return say(out, kSkip + gpu.whyNot);
    auto owner = TensorOwner::create({"child", nullptr, 0, gpu.context}).take();
    auto memory = dl::GpuMemory::create(gpu.context, dl::GpuMemory::Kind::Device, kGpuBytes).take();
    auto *data = reinterpret_cast<int32_t *>(memory.device());
    gpu.put(data, counted(120));
    std::string both;
    for (int32_t *first : {data, data + 60})
      both += owner->publish({kCollI32, {60}, {}, first, nullptr}, {true, false}).take();
    say(out, both);
    waitForEnd(in);
  });
  if (process.handle.compare(0, kSkip.size(), kSkip) == 0) {
    process.end(0);
    GTEST_SKIP() << process.handle.substr(kSkip.size());
  }
  Gpu gpu(isReal, 1);
  ASSERT_EQ(gpu.whyNot, "");
  RemoteTensors remote({nullptr, 0, gpu.context});
  auto memory = dl::GpuMemory::create(gpu.context, dl::GpuMemory::Kind::Device, kGpuBytes).take();
  auto *local = reinterpret_cast<int32_t *>(memory.device());
  const size_t half = process.handle.size() / 2;
  std::shared_ptr<RemoteTensor> tensors[] = {remote.open(process.handle.substr(0, half)).take(),
                                             remote.open(process.handle.substr(half)).take()};
  const auto read = [&](size_t i) {
    const Status status = tensors[i]->readInto(
        {kCollI32, {60}, {}, local + 60 * static_cast<ptrdiff_t>(i), nullptr}, {Via::Ipc, {}});
    EXPECT_TRUE(status.ok()) << status.toString();
  };
  read(0);
  read(1);
  EXPECT_EQ(gpu.get(local, 120), counted(120));
  // The other tensor stays open.
  tensors[0].reset();
  gpu.put(local, std::vector<int32_t>(120, -1));
  read(1);
  EXPECT_EQ(gpu.get(local + 60, 60).back(), 119);
  tensors[1].reset();
  EXPECT_EQ(process.end(0), 0);
}

TEST(RemoteTensorProcessTest, TwoTensorsOfOneAllocation) { runTwoOfOneBlock(false); }

// The ranks are threads: the driver does not open a handle in the process that made it.
void runInOneProcess(bool isReal) {
  Gpu there(isReal, 0);
  if (!there.whyNot.empty())
    GTEST_SKIP() << there.whyNot;
  Gpu here(there, 1);
  for (const bool byDescriptor : {false, true}) {
    auto owner = TensorOwner::create({"thread", nullptr, 0, there.context}).take();
    auto memory =
        dl::GpuMemory::create(there.context, dl::GpuMemory::Kind::Device, kGpuBytes).take();
    auto *data = reinterpret_cast<int32_t *>(byDescriptor ? owner->allocateGpu(kGpuBytes).take()
                                                          : memory.device());
    data += 8;
    there.put(data, counted(60));
    const std::string handle =
        owner->publish({kCollI32, {60}, {}, data, nullptr}, {true, false}).take();
    RemoteTensors remote({nullptr, 0, here.context});
    auto tensor = remote.open(handle).take();
    auto room = dl::GpuMemory::create(here.context, dl::GpuMemory::Kind::Device, kGpuBytes).take();
    auto *local = reinterpret_cast<int32_t *>(room.device());
    auto prepared = tensor->prepareRead({kCollI32, {60}, {}, local, nullptr});
    ASSERT_TRUE(prepared.ok()) << prepared.status().toString();
    EXPECT_EQ((*prepared)->via(), Via::Ipc);
    ASSERT_TRUE((*prepared)->run().ok());
    EXPECT_EQ(here.get(local, 60), counted(60));
    here.put(local, {-7});
    ASSERT_TRUE(
        tensor->writeFrom({kCollI32, {1}, {}, local, nullptr}, {Via::Ipc, Region{{59}, {1}}}).ok());
    EXPECT_EQ(there.get(data, 60).back(), -7);
    ASSERT_TRUE(owner->withdraw(handle).ok());
    EXPECT_EQ((*prepared)->run().code(), kCollPeer);
  }
}

TEST(RemoteTensorGpuTest, MemoryOfAnOwnerInThisProcess) { runInOneProcess(false); }

TEST(RemoteTensorGpuTest, AGpuThatDoesNotReachTheOtherSaysSo) {
  Gpu there(false, 0), here(there, 1);
  auto owner = TensorOwner::create({"thread", nullptr, 0, there.context}).take();
  auto memory = dl::GpuMemory::create(there.context, dl::GpuMemory::Kind::Device, kGpuBytes).take();
  const TensorView whole = {kCollI32, {60}, {}, memory.device(), nullptr};
  RemoteTensors remote({nullptr, 0, here.context});
  auto tensor = remote.open(owner->publish(whole, {true, false}).take()).take();
  auto room = dl::GpuMemory::create(here.context, dl::GpuMemory::Kind::Device, kGpuBytes).take();
  there.fake->failNext("contextEnablePeerAccess", dl::kCudaInvalidValue);
  const Status status =
      tensor->readInto({kCollI32, {60}, {}, room.device(), nullptr}, {Via::Ipc, {}});
  EXPECT_EQ(status.code(), kCollDevice);
  EXPECT_NE(status.message().find("the tensor of \"thread\": ipc: cuCtxEnablePeerAccess"),
            std::string::npos)
      << status.message();
}

// Runs `body` in a forked process: once the driver has been used in a process, its children cannot
// use it.
void runInChild(const std::function<void()> &body) {
  const pid_t pid = fork();
  if (pid == 0) {
    body();
    _exit(testing::Test::HasFailure() ? 1 : testing::Test::IsSkipped() ? 77 : 0);
  }
  int state = 0;
  waitpid(pid, &state, 0);
  ASSERT_TRUE(WIFEXITED(state));
  if (WEXITSTATUS(state) == 77)
    GTEST_SKIP() << "no GPU here";
  EXPECT_EQ(WEXITSTATUS(state), 0);
}

void runReal(Way way) {
  runInChild([way] { runOn(/*isReal=*/true, way); });
}

TEST(RemoteTensorCudaTest, MemoryOfCudaMallocIsOpenedByIpc) { runReal(Way::IpcOfMalloc); }
TEST(RemoteTensorCudaTest, VmmMemoryIsOpenedByDescriptor) { runReal(Way::IpcOfDescriptor); }
TEST(RemoteTensorCudaTest, MemoryOfCudaMallocIsServedOverTcp) { runReal(Way::TcpOfMalloc); }
TEST(RemoteTensorCudaTest, VmmMemoryIsServedOverTcp) { runReal(Way::TcpOfDescriptor); }
TEST(RemoteTensorCudaTest, AKilledOwnerEndsAccessByIpc) {
  runInChild([] { runKilledOwner(/*isReal=*/true, Way::IpcOfMalloc); });
}
TEST(RemoteTensorCudaTest, AKilledOwnerEndsAccessByDescriptor) {
  runInChild([] { runKilledOwner(/*isReal=*/true, Way::IpcOfDescriptor); });
}
TEST(RemoteTensorCudaTest, TwoTensorsOfOneAllocation) {
  runInChild([] { runTwoOfOneBlock(/*isReal=*/true); });
}
TEST(RemoteTensorCudaTest, MemoryOfAnOwnerInThisProcess) {
  runInChild([] { runInOneProcess(/*isReal=*/true); });
}

} // namespace
} // namespace coll::rt::exchange::test
