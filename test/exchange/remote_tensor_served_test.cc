// Tensors on a fake driver's GPU that a transport cannot access directly: random reads and writes
// byte for byte, many chunks, and what owners refuse or withdraw.

#include "runtime/exchange/tensor/owner.h"
#include "runtime/exchange/tensor/server.h"
#include "runtime/net/loopback/loopback.h"
#include "test/exchange/remote_tensor_rig.h"
#include "test/exchange/tcp.h"
#include "test/support/fakes/cuda.h"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace coll::rt::exchange::test {
namespace {

// Loopback that behaves like a NIC next to the GPU: it accepts memory as descriptors.
class Reaching final : public net::Transport {
public:
  Reaching() : inner_(net::createLoopbackTransport().take()), devices_(inner_->devices()) {
    devices_[0].memoryKinds |= static_cast<uint32_t>(net::MemoryKind::Dmabuf);
    devices_[0].needsFlush = true;
  }
  const char *name() const override { return "reaching"; }
  const std::vector<net::DeviceProperties> &devices() const override { return devices_; }
  Result<std::unique_ptr<net::Listener>> listen(int device) override {
    return inner_->listen(device);
  }
  Result<std::unique_ptr<net::Connector>> connect(int device, const net::Handle &handle) override {
    return inner_->connect(device, handle);
  }
  Result<net::Memory *> regMr(int device, const net::MemoryRegion &region) override {
    net::MemoryRegion host = region;
    host.kind = net::MemoryKind::Host;
    return inner_->regMr(device, host);
  }
  void deregMr(net::Memory *memory) override { inner_->deregMr(memory); }

private:
  const std::unique_ptr<net::Transport> inner_;
  std::vector<net::DeviceProperties> devices_;
};

class ServedTensorTest : public testing::Test {
protected:
  void TearDown() override {
    gpu_.reset();
    EXPECT_EQ(fake_.misuse(), "");
    EXPECT_EQ(fake_.liveAllocations(), 0);
  }
  int64_t copies() const { return fake_.calls("memcpyAsync") + fake_.calls("memcpy2DAsync"); }

  dl::FakeCuda fake_;
  std::shared_ptr<dl::GpuContext> gpu_ = dl::GpuContext::open(fake_.table(), 0).take();
};

TEST_F(ServedTensorTest, RandomAccessOverLoopback) {
  auto transport = net::createLoopbackTransport().take();
  accessMany(transport.get(), Via::Rdma, 200, gpu_);
  EXPECT_GT(copies(), 0);
}

TEST_F(ServedTensorTest, RandomAccessOverTcp) {
  auto transport = tcp();
  accessMany(transport.get(), Via::Rdma, 100, gpu_);
}

TEST_F(ServedTensorTest, DirectWhereTheTransportReachesTheMemory) {
  Reaching transport;
  accessMany(&transport, Via::Rdma, 100, gpu_);
  EXPECT_EQ(copies(), 0);
}

// An owner of one tensor of bytes on the GPU, and a reader with a GPU buffer.
struct Pair {
  Pair(net::Transport &transport, std::shared_ptr<dl::GpuContext> gpu, int64_t rows, int64_t pitch)
      : rows(rows), pitch(pitch),
        memory(dl::GpuMemory::create(gpu, dl::GpuMemory::Kind::Device, rows * pitch).take()),
        local(dl::GpuMemory::create(gpu, dl::GpuMemory::Kind::Device, rows * pitch).take()) {
    owner = TensorOwner::create({"owner", &transport, 0, gpu}).take();
    handle = owner->publish({kCollI8, {rows, pitch}, {}, memory.device(), nullptr}, {false, true})
                 .take();
    RemoteTensorsOptions options;
    options.transport = &transport;
    options.gpu = gpu;
    options.timeoutUs = 20'000'000;
    remote = std::make_unique<RemoteTensors>(options);
    tensor = remote->open(handle).take();
  }
  int64_t rows, pitch;
  dl::GpuMemory memory, local;
  std::unique_ptr<TensorOwner> owner;
  std::string handle;
  std::unique_ptr<RemoteTensors> remote;
  std::shared_ptr<RemoteTensor> tensor;
};

// Shared memory and CUDA IPC are not possible if only one side is on the GPU.
TEST_F(ServedTensorTest, TheBestWayBetweenAHostAndAGpuIsTheNetwork) {
  auto transport = net::createLoopbackTransport().take();
  constexpr int64_t kBytes = 2 << 20; // what the fake driver lets others open
  for (const bool isTensorOnGpu : {false, true}) {
    auto owner = TensorOwner::create({"owner", transport.get(), 0, gpu_}).take();
    auto *shared = static_cast<char *>(owner->allocate(kBytes).take());
    auto *device = static_cast<char *>(owner->allocateGpu(kBytes).take());
    char *theirs = isTensorOnGpu ? device : shared;
    char *ours = isTensorOnGpu ? shared : device;
    std::fill_n(theirs, kBytes, 7);
    const std::string handle =
        owner->publish({kCollI8, {kBytes}, {}, theirs, nullptr}, {true, true}).take();
    RemoteTensorsOptions options;
    options.transport = transport.get();
    options.gpu = gpu_;
    RemoteTensors remote(options);
    auto tensor = remote.open(handle).take();
    const TensorView local = {kCollI8, {kBytes}, {}, ours, nullptr};
    auto read = tensor->prepareRead(local);
    ASSERT_TRUE(read.ok()) << read.status().toString();
    EXPECT_EQ((*read)->via(), Via::Rdma);
    EXPECT_TRUE((*read)->run().ok());
    EXPECT_EQ(std::count(ours, ours + kBytes, 7), kBytes);
    EXPECT_EQ(tensor->readInto(local, {Via::Ipc, {}}).code(), kCollUnsupported);
    // Without a network the error has both reasons.
    options.transport = nullptr;
    const Status none = RemoteTensors(options).open(handle).take()->readInto(local);
    EXPECT_EQ(none.code(), kCollUnsupported);
    EXPECT_NE(none.message().find("memory of a GPU"), std::string::npos) << none.message();
    EXPECT_NE(none.message().find("this process has given no transport"), std::string::npos);
    read->reset();
    tensor.reset();
    ASSERT_TRUE(owner->withdraw(handle).ok());
    EXPECT_TRUE(owner->release(shared).ok());
    EXPECT_TRUE(owner->release(device).ok());
  }
}

// Columns, in chunks that end in the middle of rows; then everything back.
TEST_F(ServedTensorTest, ManyChunks) {
  for (const bool isTcp : {false, true}) {
    auto transport = isTcp ? tcp() : net::createLoopbackTransport().take();
    Pair pair(*transport, gpu_, 1501, 5003);
    const int64_t columns = 4999, bytes = pair.rows * pair.pitch;
    Random random(7);
    for (int64_t i = 0; i < bytes; ++i)
      pair.memory.device()[i] = static_cast<char>(random());
    const Bytes before(pair.memory.device(), pair.memory.device() + bytes);
    const TensorView local = {kCollI8, {pair.rows, columns}, {}, pair.local.device(), nullptr};
    const TensorAccess part = {Via::Auto, Region{{0, 3}, {pair.rows, columns}}};
    Status status = pair.tensor->readInto(local, part);
    ASSERT_TRUE(status.ok()) << status.toString();
    for (int64_t row = 0; row < pair.rows; ++row)
      ASSERT_EQ(std::memcmp(pair.local.device() + row * columns,
                            before.data() + row * pair.pitch + 3, static_cast<size_t>(columns)),
                0);
    std::memset(pair.memory.device(), kUntouched, static_cast<size_t>(bytes));
    status = pair.tensor->writeFrom(local, part);
    ASSERT_TRUE(status.ok()) << status.toString();
    for (int64_t row = 0; row < pair.rows; ++row) {
      const char *at = pair.memory.device() + row * pair.pitch;
      ASSERT_EQ(
          std::memcmp(at + 3, before.data() + row * pair.pitch + 3, static_cast<size_t>(columns)),
          0);
      ASSERT_TRUE(at[2] == kUntouched && at[3 + columns] == kUntouched);
    }
  }
}

TEST_F(ServedTensorTest, ForgedAndStaleHandlesAreRefused) {
  auto transport = net::createLoopbackTransport().take();
  Pair pair(*transport, gpu_, 10, 10);
  const TensorView local = {kCollI8, {10, 10}, {}, pair.local.device(), nullptr};
  ASSERT_TRUE(pair.tensor->readInto(local).ok());
  auto readBy = [&](TensorHandle handle) {
    return pair.remote->open(handle.serialize()).take()->readInto(local);
  };
  const TensorHandle honest = TensorHandle::parse(pair.handle).take();
  TensorHandle forged = honest;
  forged.key ^= 1;
  EXPECT_EQ(readBy(forged).message(),
            "read of the tensor of \"owner\": rdma: the handle is not the "
            "one that was published");
  forged = honest;
  forged.strides[0] = 1000;
  EXPECT_EQ(readBy(forged).code(), kCollInvalidCall);
  forged = honest;
  forged.memory.key = 5;
  EXPECT_EQ(readBy(forged).code(), kCollInvalidCall);
  EXPECT_TRUE(pair.tensor->readInto(local).ok());
  ASSERT_TRUE(pair.owner->withdraw(pair.handle).ok());
  EXPECT_EQ(pair.tensor->readInto(local).message(),
            "read of the tensor of \"owner\": rdma: the tensor has been withdrawn");
  pair.owner.reset();
  EXPECT_FALSE(pair.tensor->readInto(local).ok());
}

// After withdraw() the owner's memory is not accessed any more, even by accesses in progress.
TEST_F(ServedTensorTest, WithdrawnWhileItIsRead) {
  for (int round = 0; round < 6; ++round) {
    auto transport = round % 2 ? tcp() : net::createLoopbackTransport().take();
    Pair pair(*transport, gpu_, 3000, 2000);
    std::atomic<int> reads{0};
    Status status;
    std::thread reader([&] {
      const TensorView local = {kCollI8, {3000, 2000}, {}, pair.local.device(), nullptr};
      while (status.ok() && ++reads < 10'000)
        status = reads % 2 ? pair.tensor->readInto(local) : pair.tensor->writeFrom(local);
    });
    while (reads < 1 + round / 2)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(300 * round));
    ASSERT_TRUE(pair.owner->withdraw(pair.handle).ok());
    pair.memory = {};
    reader.join();
    EXPECT_EQ(status.code(), kCollPeer) << status.toString();
    EXPECT_NE(status.message().find("withdrawn"), std::string::npos) << status.message();
  }
}

//===-- questions -----------------------------------------------------------------------===//

// A server of 100 bytes in the middle of other memory, and a link to it.
struct Server {
  Server() {
    server = TensorServer::create(*transport, 0, nullptr, [this](const BoxQuestion &) {
               return Result<TensorServer::Tensor>({{memory + 50, nullptr}, 100});
             }).take();
    link.connection = connect();
    lane = ChunkLane::create(nullptr, *transport, 0, 2, 64).take();
    std::memset(memory, kUntouched, sizeof(memory));
  }
  std::unique_ptr<net::Connection> connect() {
    auto connector = transport->connect(0, server->handle()).take();
    std::unique_ptr<net::Connection> connection;
    while (!connection) {
      connection = connector->poll().take();
      std::this_thread::yield();
    }
    return connection;
  }
  Status write(const StridedBox &box) {
    return moveServed(link, *lane, {1, 2, 3, /*reads=*/false, 10'000'000}, box, {local, nullptr});
  }

  std::unique_ptr<net::Transport> transport = net::createLoopbackTransport().take();
  char memory[200];
  char local[2000] = {};
  std::unique_ptr<ChunkLane> lane;
  OwnerLink link;
  std::unique_ptr<TensorServer> server;
};

TEST(TensorServerTest, BoxesThatAreNotInsideAreRefused) {
  Server server;
  auto boxOf = [](int64_t offset, int64_t row, std::vector<std::array<int64_t, 2>> loops) {
    StridedBox box;
    box.dstOffset = offset;
    box.rowBytes = row;
    for (const auto &[count, stride] : loops) {
      const auto d = static_cast<size_t>(box.numLoops++);
      box.count[d] = count;
      box.dstStride[d] = stride;
    }
    return box;
  };
  constexpr int64_t kHuge = int64_t{1} << 62;
  for (const StridedBox &box :
       {boxOf(-1, 1, {}), boxOf(100, 1, {}), boxOf(0, 101, {}), boxOf(1, 100, {}), boxOf(0, -5, {}),
        boxOf(kHuge, 1, {}), boxOf(0, kHuge, {}), boxOf(0, 10, {{11, 0}}), boxOf(0, 10, {{2, 91}}),
        boxOf(5, 10, {{2, 86}}), boxOf(0, 1, {{3, kHuge}}), boxOf(0, 1, {{2, -1}}),
        boxOf(50, 1, {{2, -60}}), boxOf(0, 1, {{-3, 1}}), boxOf(0, 1, {{0, 1}}),
        boxOf(0, 1, {{kHuge, 1}, {kHuge, 1}}), boxOf(0, 2, {{kHuge, 0}, {2, 0}})}) {
    EXPECT_EQ(server.write(box).code(), kCollInvalidCall);
    EXPECT_EQ(Bytes(server.memory, server.memory + 200), Bytes(200, kUntouched));
  }
  StridedBox many = boxOf(0, 1, {});
  many.numLoops = kMaxBoxLoops;
  many.count.fill(1);
  EXPECT_TRUE(server.write(many).ok());
  EXPECT_TRUE(server.write(boxOf(10, 10, {{2, 80}})).ok());
  EXPECT_EQ(server.memory[50 + 99], 0);
  EXPECT_EQ(server.memory[150], kUntouched);
}

// A client that writes the tensor's first byte, a step at a time.
struct Writer {
  explicit Writer(Server &server) : connection(server.connect()) { question.rowBytes = 1; }

  net::Request *post(bool isSend, uint64_t tag, void *data, size_t bytes) {
    const net::Segment segment = {data, bytes, nullptr};
    net::Request *request = nullptr;
    while (!request) {
      request = isSend ? connection->isend(&segment, 1, tag).take()
                       : connection->irecv(&segment, 1, tag).take();
      std::this_thread::yield();
    }
    return request;
  }
  Status await(net::Request *request) {
    return net::wait(*connection, request, 20'000'000).status();
  }
  // Returns when the server has agreed.
  Status ask() {
    question.isWrite = 1;
    net::Request *answered = post(false, BoxQuestion::kAnswerTag, &answer, sizeof(answer));
    COLL_RETURN_IF_ERROR(await(post(true, BoxQuestion::kTag, &question, sizeof(question))));
    COLL_RETURN_IF_ERROR(await(answered));
    return answer.status();
  }
  // The byte is under way, and the server's last answer awaited.
  void send(char value) {
    byte = value;
    ended = post(false, BoxQuestion::kAnswerTag, &answer, sizeof(answer));
    sent = post(true, BoxQuestion::kDataTag, &byte, 1);
  }

  BoxQuestion question;
  BoxAnswer answer;
  char byte = 0;
  net::Request *sent = nullptr, *ended = nullptr;
  std::unique_ptr<net::Connection> connection; // ends before the buffers do
};

TEST(TensorServerTest, AnAccessWaitsWhileOthersHaveAllLanes) {
  Server server;
  // Three requests that are refused, one after the other: the server has visited every client
  // meanwhile.
  auto visitClients = [&] {
    StridedBox outside;
    outside.rowBytes = 101;
    for (int i = 0; i < 3; ++i)
      ASSERT_EQ(server.write(outside).code(), kCollInvalidCall);
  };
  Writer waiting(server);
  std::vector<std::unique_ptr<Writer>> writing; // as many as the server has lanes
  for (int i = 0; i < 16; ++i) {
    writing.push_back(std::make_unique<Writer>(server));
    ASSERT_EQ(writing.back()->ask().message(), "");
  }
  visitClients();
  ASSERT_EQ(waiting.ask().message(), "");
  waiting.send(7);
  visitClients();
  EXPECT_FALSE(waiting.connection->test(waiting.ended)->done);
  EXPECT_EQ(server.memory[50], kUntouched);
  // One ends, and its lane is free.
  writing[5]->send(6);
  ASSERT_EQ(writing[5]->await(writing[5]->ended).message(), "");
  ASSERT_EQ(writing[5]->answer.status().message(), "");
  ASSERT_EQ(waiting.await(waiting.ended).message(), "");
  EXPECT_EQ(waiting.answer.status().message(), "");
  EXPECT_EQ(server.memory[50], 7);
}

TEST(TensorServerTest, WhatIsNoQuestionEndsTheConnection) {
  Server server;
  char noise[40] = "something else";
  const net::Segment segment = {noise, sizeof(noise), nullptr};
  auto sent = server.link.connection->isend(&segment, 1, BoxQuestion::kTag);
  ASSERT_TRUE(sent.ok());
  StridedBox box;
  box.rowBytes = 1;
  const CollCode code = server.write(box).code();
  EXPECT_TRUE(code == kCollPeer || code == kCollLink) << code;
}

} // namespace
} // namespace coll::rt::exchange::test
