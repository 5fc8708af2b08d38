// Owners that send wrong answers or have no descriptors left, and tensors at the limits.

#include "runtime/exchange/flow/one_sided.h"
#include "runtime/exchange/tensor/owner.h"
#include "runtime/exchange/tensor/remote_tensor.h"
#include "runtime/exchange/tensor/wire.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/node_socket.h"
#include "test/exchange/owner_process.h"
#include "test/exchange/tcp.h"
#include "test/support/fakes/cuda.h"

#include <chrono>
#include <ctime>
#include <functional>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

namespace coll::rt::exchange::test {
namespace {

RemoteTensorsOptions optionsFor(net::Transport *transport) {
  RemoteTensorsOptions options;
  options.transport = transport;
  options.timeoutUs = 20'000'000;
  return options;
}

//===-- answers that cannot be --------------------------------------------------------===//

// A handle of four floats that no owner has published.
TensorHandle handleOf(const char *owner) {
  TensorHandle handle;
  handle.owner = owner;
  handle.shape = {4};
  handle.strides = {1};
  handle.socket = net::freshNodeName().take();
  return handle;
}

// Reads four floats of a tensor whose owner answers with `answer` and a descriptor of 8 KiB.
Status readFromLiar(const TensorAnswer &answer, const std::shared_ptr<dl::GpuContext> &gpu,
                    float *local) {
  const TensorHandle handle = handleOf("liar");
  const net::Fd listener = net::listenOnNode(handle.socket, 4).take();
  const SharedSegment segment = SharedSegment::create(8192).take();
  net::Fd peer; // until it has been read: an owner that goes ends it
  std::thread liar([&] {
    pollfd waited = {listener.get(), POLLIN, 0};
    (void)poll(&waited, 1, 10'000);
    peer = net::acceptOnNode(listener, /*blocking=*/true).take();
    TensorQuestion question;
    (void)net::receiveFromNode(peer.get(), &question, sizeof(question));
    (void)net::sendToNode(peer.get(), &answer, sizeof(answer), segment.fd().get());
  });
  RemoteTensorsOptions options = optionsFor(nullptr);
  options.gpu = gpu;
  RemoteTensors remote(options);
  const Status status = remote.open(handle.serialize())
                            .take()
                            ->readInto({kCollF32, {4}, {}, local, nullptr}, {Via::Ipc, {}});
  liar.join();
  return status;
}

// The tensor's owner is stopped: once one connection waits to be accepted, the kernel has no room
// for more.
TEST(RemoteTensorFaultsTest, AnOwnerThatLetsNobodyInEndsAtTheDeadline) {
  const TensorHandle handle = handleOf("stopped");
  const net::Fd listener = net::listenOnNode(handle.socket, 0).take();
  RemoteTensorsOptions options = optionsFor(nullptr);
  options.timeoutUs = 100'000;
  RemoteTensors remote(options);
  const std::shared_ptr<RemoteTensor> tensor = remote.open(handle.serialize()).take();
  float local[4] = {};
  const TensorView view = {kCollF32, {4}, {}, local, nullptr};
  Status status = tensor->readInto(view, {Via::Ipc, {}});
  EXPECT_EQ(status.code(), kCollTimeout) << status.message();
  EXPECT_NE(status.message().find("timed out waiting for its answer"), std::string::npos)
      << status.message();
  std::vector<net::Fd> waiting;
  for (Result<net::Fd> more = net::connectOnNode(handle.socket, 1000); more;
       more = net::connectOnNode(handle.socket, 1000))
    waiting.push_back(more.take());
  status = tensor->readInto(view, {Via::Ipc, {}});
  EXPECT_EQ(status.code(), kCollTimeout) << status.message();
  EXPECT_NE(status.message().find("its backlog is full"), std::string::npos) << status.message();
}

TEST(RemoteTensorFaultsTest, MemoryThatIsNotInsideWhatWasGivenIsRefused) {
  float local[4] = {};
  TensorAnswer answer;
  EXPECT_TRUE(readFromLiar(answer, nullptr, local).ok());
  for (int64_t offset :
       {int64_t{-1}, int64_t{-4096}, INT64_MIN, INT64_MAX - 3, int64_t{8192 - 8}}) {
    answer.offset = offset;
    EXPECT_FALSE(readFromLiar(answer, nullptr, local).ok()) << offset;
  }
  answer.offset = 0;
  answer.memory = static_cast<TensorMemory>(7);
  EXPECT_EQ(readFromLiar(answer, nullptr, local).code(), kCollPeer);
}

TEST(RemoteTensorFaultsTest, AddressesOfThisProcessAreNoAnswer) {
  dl::FakeCuda fake(1);
  auto gpu = dl::GpuContext::open(fake.table(), 0).take();
  auto memory = dl::GpuMemory::create(gpu, dl::GpuMemory::Kind::Device, 64).take();
  auto *local = reinterpret_cast<float *>(memory.device());
  TensorAnswer answer;
  answer.memory = TensorMemory::Gpu;
  answer.exported.sharing = gpu::Sharing::Process;
  answer.exported.address = reinterpret_cast<uint64_t>(memory.device());
  answer.exported.bytes = 64;
  EXPECT_EQ(readFromLiar(answer, gpu, local).code(), kCollPeer);
  answer.exported.sharing = static_cast<gpu::Sharing>(9);
  EXPECT_EQ(readFromLiar(answer, gpu, local).code(), kCollPeer);
  answer.exported.sharing = gpu::Sharing::Vmm;
  answer.exported.bytes = 8; // of 16
  EXPECT_EQ(readFromLiar(answer, gpu, local).code(), kCollPeer);
  EXPECT_EQ(fake.misuse(), "");
}

//===-- edges --------------------------------------------------------------------------===//

TEST(RemoteTensorFaultsTest, MemoryOfTensorsIsNotFreedWhicheverWayTheyAreReached) {
  auto transport = net::createLoopbackTransport().take();
  auto owner = TensorOwner::create({"owner", transport.get(), 0, nullptr}).take();
  auto *data = static_cast<char *>(owner->allocate(4096).take());
  const std::string handle =
      owner->publish({kCollI8, {100}, {}, data + 200, nullptr}, {false, true}).take();
  EXPECT_EQ(owner->release(data).message(), "a tensor in the memory is still published");
  ASSERT_TRUE(owner->withdraw(handle).ok());
  EXPECT_TRUE(owner->release(data).ok());
}

TEST(RemoteTensorFaultsTest, EmptyTensorsAndPartsAreReached) {
  for (const bool isTcp : {false, true}) {
    auto transport = isTcp ? tcp() : net::createLoopbackTransport().take();
    auto owner = TensorOwner::create({"owner", transport.get(), 0, nullptr}).take();
    void *data = owner->allocate(64).take();
    RemoteTensors remote(optionsFor(transport.get()));
    char local[64];
    for (const TensorView &view :
         {TensorView{kCollI8, {0, 4}, {}, data, nullptr},
          TensorView{kCollI8, {1, 1}, {INT64_MAX, INT64_MAX}, data, nullptr}}) {
      auto handle = owner->publish(view, {true, true});
      ASSERT_TRUE(handle.ok()) << handle.status().toString();
      auto tensor = remote.open(*handle).take();
      const Region part = {view.shape, {0, 0}}; // behind the last element
      for (Via via : {Via::Ipc, Via::Rdma})
        for (char *to : {local, static_cast<char *>(nullptr)}) {
          const TensorView none = {kCollI8, {0, 0}, {}, to, nullptr};
          const Status read = tensor->readInto(none, {via, part});
          EXPECT_TRUE(read.ok()) << read.toString();
          EXPECT_TRUE(tensor->writeFrom(none, {via, part}).ok());
        }
    }
  }
}

TEST(RemoteTensorFaultsTest, ADeadlineForEverHasNotPassed) {
  auto transport = tcp();
  auto owner = TensorOwner::create({"owner", transport.get(), 0, nullptr}).take();
  auto *data = static_cast<char *>(owner->allocate(64).take());
  data[3] = 7;
  const auto handle = owner->publish({kCollI8, {64}, {}, data, nullptr}, {true, true}).take();
  RemoteTensorsOptions options = optionsFor(transport.get());
  options.timeoutUs = INT64_MAX;
  RemoteTensors remote(options);
  for (Via via : {Via::Ipc, Via::Rdma}) {
    char local[64] = {};
    const Status read =
        remote.open(handle).take()->readInto({kCollI8, {64}, {}, local, nullptr}, {via, {}});
    EXPECT_TRUE(read.ok()) << read.toString();
    EXPECT_EQ(local[3], 7);
  }
}

//===-- requests that do not end --------------------------------------------------------===//

// Refuses the first request; the others never end.
class Stuck final : public net::Connection {
public:
  Result<net::Request *> isend(const net::Segment *, int, uint64_t) override { return post(); }
  Result<net::Request *> irecv(const net::Segment *, int, uint64_t) override { return post(); }
  Result<net::Request *> iwrite(const net::Segment *, int, const net::RemoteKey &,
                                uint64_t) override {
    return post();
  }
  Result<net::Request *> iread(const net::Segment *, int, const net::RemoteKey &,
                               const net::RemoteRows &) override {
    return post();
  }
  Result<net::Request *> iflush(const net::Segment *, int) override { return post(); }
  Result<net::Completion> test(net::Request *request) override {
    if (request == &requests_[0])
      return Status::invalid("refused");
    return net::Completion();
  }
  void close() override {}

private:
  struct Posted : net::Request {};
  Result<net::Request *> post() { return &requests_[posted_++]; }
  Posted requests_[8];
  size_t posted_ = 0;
};

// Otherwise the connection would be kept, and its requests would continue in memory that belongs to
// the user again.
TEST(RemoteTensorFaultsTest, ARequestThatDoesNotEndCountsMoreThanOneThatWasRefused) {
  Stuck connection;
  char local[64];
  OneSided moves(Direction::Read, connection, {}, local, nullptr, 1, 20'000);
  StridedBox box; // four requests
  box.rowBytes = 8;
  box.numLoops = 1;
  box.count[0] = 4;
  box.srcStride[0] = box.dstStride[0] = 16;
  EXPECT_TRUE(moves.move(box).ok());
  EXPECT_EQ(moves.finish().code(), kCollTimeout);
}

//===-- descriptors ---------------------------------------------------------------------===//

// Returns the processor time of this process during `time`, in microseconds.
int64_t workIn(std::chrono::milliseconds time) {
  const auto now = [] {
    timespec used = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1'000'000 + used.tv_nsec / 1000;
  };
  const int64_t before = now();
  std::this_thread::sleep_for(time);
  return now() - before;
}

// Waits until something was written there, for a minute at most.
void awaitWords(int file) {
  struct stat state = {};
  for (int i = 0; i < 60'000 && state.st_size == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fstat(file, &state);
  }
}

// Runs in its own process; returns 0, or a number that says what failed.
int serveWithout(bool hasFewerThanOpen, int out, int in) {
  // The sanitizers inspect each type of thread once, and need descriptors for that.
  TensorOwner::create({"first", nullptr, 0, nullptr}).take().reset();
  testing::internal::CaptureStderr();
  auto owner = TensorOwner::create({"child", nullptr, 0, nullptr}).take();
  auto *data = static_cast<char *>(owner->allocate(64).take());
  data[3] = 7;
  const auto handle = owner->publish({kCollI8, {64}, {}, data, nullptr}, {true, false});
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  const int next = dup(in);
  close(next);
  const rlimit few = {hasFewerThanOpen ? 1 : static_cast<rlim_t>(next), before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  say(out, handle);
  waitForEnd(in); // somebody is at the socket
  awaitWords(STDERR_FILENO);
  const bool isCalm = workIn(std::chrono::milliseconds(300)) < 100'000;
  setrlimit(RLIMIT_NOFILE, &before);
  waitForEnd(in); // and was served
  setrlimit(RLIMIT_NOFILE, &few);
  owner.reset();
  setrlimit(RLIMIT_NOFILE, &before);
  const std::string said = testing::internal::GetCapturedStderr();
  const size_t at = said.find("is delayed");
  const bool isSaidOnce = at != said.npos && said.find("is delayed", at + 1) == said.npos;
  return isCalm ? isSaidOnce ? 0 : 4 : 3;
}

TEST(RemoteTensorProcessTest, AnOwnerWithoutDescriptorsLetsClientsWait) {
  for (const bool hasFewerThanOpen : {false, true}) {
    OwnerProcess process([&](int out, int in) { _exit(serveWithout(hasFewerThanOpen, out, in)); });
    Status status;
    char local[64] = {};
    std::thread reader([&] {
      RemoteTensors remote(optionsFor(nullptr));
      auto opened = remote.open(process.handle);
      status = opened ? (*opened)->readInto({kCollI8, {64}, {}, local, nullptr}) : opened.status();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(write(process.out.get(), "x", 1), 1);
    reader.join();
    EXPECT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(local[3], 7);
    EXPECT_EQ(process.end(0), 0);
  }
}

} // namespace
} // namespace coll::rt::exchange::test
