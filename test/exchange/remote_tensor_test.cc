// Tensors of other processes: handles, random reads and writes by every path byte for byte, and the
// behaviour with stale or forged handles and when owners end.

#include "runtime/base/dtype.h"
#include "runtime/exchange/tensor/owner.h"
#include "runtime/exchange/tensor/remote_tensor.h"
#include "runtime/exchange/tensor/wire.h"
#include "runtime/net/loopback/loopback.h"
#include "test/exchange/owner_process.h"
#include "test/exchange/remote_tensor_rig.h"
#include "test/exchange/tcp.h"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

namespace coll::rt::exchange::test {
namespace {

TEST(RemoteTensorTest, RandomAccessInsideTheNode) { accessMany(nullptr, Via::Ipc, 800); }
TEST(RemoteTensorTest, RandomAccessOverLoopback) {
  auto transport = net::createLoopbackTransport().take();
  accessMany(transport.get(), Via::Rdma, 400);
}
TEST(RemoteTensorTest, RandomAccessOverTcp) {
  auto transport = tcp();
  accessMany(transport.get(), Via::Rdma, 150);
}
TEST(RemoteTensorTest, RandomAccessByTheBestWay) {
  auto transport = net::createLoopbackTransport().take();
  accessMany(transport.get(), Via::Auto, 100);
}

//===-- handles ------------------------------------------------------------------------===//

// A tensor of 3 x 4 floats, 0 to 11, that can be accessed in both ways.
struct Pair {
  Pair() {
    transport = net::createLoopbackTransport().take();
    TensorOwnerOptions options;
    options.name = "rank 3";
    options.transport = transport.get();
    owner = TensorOwner::create(options).take();
    data = static_cast<float *>(owner->allocate(48).take());
    std::iota(data, data + 12, 0.f);
    handle = owner->publish({kCollF32, {3, 4}, {}, data, nullptr}, {true, true}).take();
    RemoteTensorsOptions remoteOptions;
    remoteOptions.transport = transport.get();
    remoteOptions.timeoutUs = 10'000'000;
    remote = std::make_unique<RemoteTensors>(remoteOptions);
    tensor = remote->open(handle).take();
  }
  Status read(Via via = Via::Auto) {
    return tensor->readInto({kCollF32, {3, 4}, {}, local, nullptr}, {via, std::nullopt});
  }

  std::unique_ptr<net::Transport> transport;
  std::unique_ptr<TensorOwner> owner;
  float *data = nullptr;
  float local[12] = {};
  std::string handle;
  std::unique_ptr<RemoteTensors> remote;
  std::shared_ptr<RemoteTensor> tensor;
};

// Returns the handle with a correct checksum, like one from an attacker.
std::string resummed(std::string bytes) {
  const std::string_view body = std::string_view(bytes).substr(0, bytes.size() - 8);
  const uint64_t sum = sumOf(body);
  std::memcpy(bytes.data() + body.size(), &sum, 8);
  return bytes;
}

TEST(TensorHandleTest, SaysWhatWasPublished) {
  Pair pair;
  const TensorHandle &handle = pair.tensor->handle();
  EXPECT_EQ(handle.owner, "rank 3");
  EXPECT_EQ(handle.dtype, kCollF32);
  EXPECT_EQ(handle.shape, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(handle.strides, (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(handle.transport, "loopback");
  EXPECT_EQ(handle.span(), 48);
  EXPECT_EQ(handle.serialize(), pair.handle);
}

TEST(TensorHandleTest, DamagedBytesAreErrors) {
  Pair pair;
  for (size_t length = 0; length < pair.handle.size(); ++length)
    EXPECT_FALSE(TensorHandle::parse(pair.handle.substr(0, length)).ok()) << length;
  EXPECT_FALSE(TensorHandle::parse(pair.handle + "x").ok());
  for (size_t i = 0; i < pair.handle.size(); ++i)
    for (int bit : {0, 3, 7}) {
      std::string bytes = pair.handle;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      EXPECT_FALSE(TensorHandle::parse(bytes).ok()) << i;
      // With a correct checksum it may parse, but must not crash.
      (void)TensorHandle::parse(resummed(bytes));
    }
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = pair.handle;
    for (int j = 0; j < 4; ++j)
      bytes[20 + static_cast<size_t>(below(random, static_cast<int64_t>(bytes.size()) - 28))] =
          static_cast<char>(random());
    (void)TensorHandle::parse(resummed(bytes));
  }
}

TEST(TensorHandleTest, AnotherVersionIsNamed) {
  Pair pair;
  std::string bytes = pair.handle;
  bytes[8] = 2;
  EXPECT_EQ(TensorHandle::parse(resummed(bytes)).status().message(),
            "the tensor handle has version 2, this library reads version 1");
  EXPECT_EQ(pair.remote->open(bytes).status().code(), kCollInvalidCall);
}

TEST(RemoteTensorTest, ForgedHandlesAreRefused) {
  Pair pair;
  TensorHandle forged = TensorHandle::parse(pair.handle).take();
  forged.key ^= 1;
  forged.memory.key ^= 1;
  auto tensor = pair.remote->open(forged.serialize()).take();
  const TensorView whole = {kCollF32, {3, 4}, {}, pair.local, nullptr};
  EXPECT_EQ(tensor->readInto(whole, {Via::Ipc, std::nullopt}).message(),
            "read of the tensor of \"rank 3\": ipc: the handle is not the one that was published");
  EXPECT_EQ(tensor->readInto(whole, {Via::Rdma, std::nullopt}).code(), kCollInvalidCall);

  // The right key, but a tensor that is larger than the published one.
  forged = TensorHandle::parse(pair.handle).take();
  forged.shape[0] = 3000;
  tensor = pair.remote->open(forged.serialize()).take();
  std::vector<float> large(12000);
  const TensorView beyond = {kCollF32, {3000, 4}, {}, large.data(), nullptr};
  EXPECT_EQ(tensor->readInto(beyond, {Via::Ipc, std::nullopt}).code(), kCollInvalidCall);
  EXPECT_EQ(tensor->readInto(beyond, {Via::Rdma, std::nullopt}).code(), kCollInvalidCall);
  forged.memory.bytes = 1 << 20;
  tensor = pair.remote->open(forged.serialize()).take();
  EXPECT_FALSE(tensor->writeFrom(beyond, {Via::Rdma, std::nullopt}).ok());
  // Valid accesses still work.
  EXPECT_TRUE(pair.read(Via::Ipc).ok());
  EXPECT_TRUE(pair.read(Via::Rdma).ok());
  EXPECT_EQ(pair.local[11], 11.f);
}

TEST(RemoteTensorTest, StaleHandlesAreErrors) {
  Pair pair;
  ASSERT_TRUE(pair.read(Via::Ipc).ok());
  ASSERT_TRUE(pair.read(Via::Rdma).ok());
  EXPECT_TRUE(pair.tensor->isMapped());
  ASSERT_TRUE(pair.owner->withdraw(pair.handle).ok());
  EXPECT_EQ(pair.owner->withdraw(pair.handle).code(), kCollInvalidCall);
  EXPECT_EQ(pair.read(Via::Ipc).message(), "read of the tensor of \"rank 3\": ipc: the owner has "
                                           "withdrawn it, or has ended");
  EXPECT_FALSE(pair.tensor->isMapped());
  EXPECT_EQ(pair.read(Via::Ipc).message(),
            "read of the tensor of \"rank 3\": ipc: the tensor has been withdrawn");
  EXPECT_EQ(pair.read(Via::Rdma).code(), kCollInvalidCall);
  // Other tensors of the same owner are not affected.
  const std::string other =
      pair.owner->publish({kCollF32, {2}, {}, pair.data + 4, nullptr}, {true, true}).take();
  float two[2] = {};
  for (Via via : {Via::Ipc, Via::Rdma})
    EXPECT_TRUE(pair.remote->open(other)
                    .take()
                    ->readInto({kCollF32, {2}, {}, two, nullptr}, {via, std::nullopt})
                    .ok());
  EXPECT_EQ(two[1], 5.f);
  pair.owner.reset();
  EXPECT_FALSE(pair.read().ok());
}

TEST(RemoteTensorTest, APreparedAccessFollowsItsTensor) {
  for (Via via : {Via::Ipc, Via::Rdma}) {
    Pair pair;
    auto read = pair.tensor->prepareRead({kCollF32, {3, 4}, {}, pair.local, nullptr}, {via, {}});
    ASSERT_TRUE(read.ok()) << read.status().toString();
    EXPECT_EQ((*read)->via(), via);
    EXPECT_EQ(pair.local[11], 0.f); // not yet
    for (float value : {5.f, 6.f}) {
      pair.data[11] = value;
      ASSERT_TRUE((*read)->run().ok());
      EXPECT_EQ(pair.local[11], value);
    }
    // The access keeps the tensor open.
    pair.tensor.reset();
    ASSERT_TRUE((*read)->run().ok());
    ASSERT_TRUE(pair.owner->withdraw(pair.handle).ok());
    const Status ended = (*read)->run();
    EXPECT_EQ(ended.code(), via == Via::Ipc ? kCollPeer : kCollInvalidCall) << ended.toString();
    EXPECT_EQ(ended.message().find("read of the tensor of \"rank 3\": "), 0u);
  }
}

TEST(RemoteTensorTest, WhereThereIsNoWayBothReasonsAreSaid) {
  Pair pair;
  TensorHandle elsewhere = TensorHandle::parse(pair.handle).take();
  elsewhere.socket += "x";
  const TensorView local = {kCollF32, {3, 4}, {}, pair.local, nullptr};
  // This one is accessible over the network only.
  EXPECT_EQ(pair.remote->open(elsewhere.serialize()).take()->prepareRead(local).take()->via(),
            Via::Rdma);
  RemoteTensors without{RemoteTensorsOptions()};
  const Status none = without.open(elsewhere.serialize()).take()->writeFrom(local);
  EXPECT_EQ(none.code(), kCollLink);
  EXPECT_EQ(
      none.message(),
      "write to the tensor of \"rank 3\": it cannot be reached: ipc: the owner is not on this "
      "node, or has ended; this process has given no transport");
}

TEST(RemoteTensorTest, OpenedOnce) {
  Pair pair;
  ASSERT_TRUE(pair.read().ok());
  EXPECT_EQ(pair.remote->open(pair.handle).take(), pair.tensor);
  const TensorHandle parsed = TensorHandle::parse(pair.handle).take();
  EXPECT_EQ(pair.remote->open(parsed.serialize()).take(), pair.tensor);
}

TEST(RemoteTensorTest, MismatchesNameOwnerAndArgument) {
  Pair pair;
  double doubles[12] = {};
  auto read = [&](const TensorView &local, const TensorAccess &access = {}) {
    return pair.tensor->readInto(local, access).message();
  };
  const std::string whose = "read of the tensor of \"rank 3\": ";
  EXPECT_EQ(read({kCollF64, {3, 4}, {}, doubles, nullptr}),
            whose + "it has elements of type f32, the local tensor of f64");
  EXPECT_EQ(read({kCollF32, {4, 3}, {}, pair.local, nullptr}),
            whose + "it has the shape [3, 4], the local tensor [4, 3]");
  EXPECT_EQ(read({kCollF32, {3, 4}, {0, 1}, pair.local, nullptr}),
            whose + "the local tensor: receiver 0 (rank 0): by its strides, elements overlap");
  EXPECT_EQ(read({kCollF32, {3, 4}, {1}, pair.local, nullptr}),
            whose + "the local tensor: sender 0 (rank 0): 1 strides for 2 dimensions");
  EXPECT_EQ(read({kCollF32, {3, 4}, {}, nullptr, nullptr}),
            whose + "the local tensor: the tensor has no memory");
  EXPECT_EQ(read({kCollF32, {3, 2}, {}, pair.local, nullptr}, {Via::Auto, Region{{0, 3}, {3, 2}}}),
            whose + "the part of [3, 2] from [0, 3] on is not inside [3, 4]");
  EXPECT_EQ(read({kCollF32, {3}, {}, pair.local, nullptr}, {Via::Auto, Region{{0}, {3}}}),
            whose + "the part has other dimensions than the tensor [3, 4]");
}

TEST(RemoteTensorTest, WaysThatAreNotThereAreSaid) {
  Pair pair;
  const TensorView part = {kCollF32, {4}, {}, pair.data, nullptr};
  EXPECT_EQ(pair.owner->publish(part, {false, false}).status().code(), kCollInvalidCall);
  const std::string onlyIpc = pair.owner->publish(part, {true, false}).take();
  const std::string onlyRdma = pair.owner->publish(part, {false, true}).take();
  const TensorView local = {kCollF32, {4}, {}, pair.local, nullptr};
  EXPECT_EQ(pair.remote->open(onlyIpc).take()->readInto(local, {Via::Rdma, {}}).message(),
            "read of the tensor of \"rank 3\": its owner has not enabled rdma");
  EXPECT_EQ(pair.remote->open(onlyRdma).take()->readInto(local, {Via::Ipc, {}}).message(),
            "read of the tensor of \"rank 3\": its owner has not enabled ipc");
  EXPECT_TRUE(pair.remote->open(onlyRdma).take()->readInto(local).ok());
  RemoteTensors without{RemoteTensorsOptions()};
  EXPECT_EQ(without.open(onlyRdma).take()->readInto(local).code(), kCollUnsupported);
  EXPECT_TRUE(without.open(onlyIpc).take()->readInto(local).ok());

  float stray[4] = {};
  EXPECT_EQ(pair.owner->publish({kCollF32, {4}, {}, stray, nullptr}, {true, false}).status().code(),
            kCollUnsupported);
  EXPECT_EQ(pair.owner->publish({kCollF32, {5000}, {}, pair.data, nullptr}, {true, false})
                .status()
                .message(),
            "ipc: the tensor is larger than the memory that it is in");
  EXPECT_EQ(pair.owner->release(pair.data).message(), "a tensor in the memory is still published");
  EXPECT_EQ(pair.owner->release(stray).code(), kCollInvalidCall);
  auto silent = TensorOwner::create({"silent", nullptr, 0, nullptr}).take();
  EXPECT_EQ(silent->publish(part, {false, true}).status().message(),
            "rdma: this owner has no transport");
  EXPECT_EQ(silent->allocateGpu(4).status().code(), kCollInvalidCall);
}

//===-- many small rows ------------------------------------------------------------------===//

// Bytes in 64 rows of 64, over loopback; one byte of each row is accessed.
struct Column {
  Column() {
    owner = TensorOwner::create({"owner", transport.get(), 0, nullptr}).take();
    data = static_cast<char *>(owner->allocate(4096).take());
    handle = owner->publish({kCollI8, {64, 64}, {}, data, nullptr}, {false, true}).take();
    RemoteTensorsOptions options;
    options.transport = transport.get();
    remote = std::make_unique<RemoteTensors>(options);
  }
  std::shared_ptr<RemoteTensor> open() { return remote->open(handle).take(); }

  std::unique_ptr<net::Transport> transport = net::createLoopbackTransport().take();
  std::unique_ptr<TensorOwner> owner;
  char *data = nullptr;
  std::string handle;
  std::unique_ptr<RemoteTensors> remote;
  char local[4096] = {};
  const TensorView view = {kCollI8, {64, 1}, {1, 1}, local, nullptr};
  const TensorAccess access = {Via::Rdma, Region{{0, 7}, {64, 1}}};
};

TEST(RemoteTensorTest, ManyRowsOfFewBytesAreServed) {
  Column column;
  auto tensor = column.open();
  auto write = tensor->prepareWrite(column.view, column.access).take();
  EXPECT_TRUE(write->isServed());
  std::iota(column.local, column.local + 64, static_cast<char>(1));
  ASSERT_TRUE(write->run().ok());
  for (int i = 0; i < 4096; ++i)
    ASSERT_EQ(column.data[i], i % 64 == 7 ? 1 + i / 64 : 0);
  // An access of few requests is not served by the owner's thread.
  EXPECT_FALSE(tensor->prepareRead(column.view, column.access).take()->isServed());
  const TensorView whole = {kCollI8, {64, 64}, {}, column.local, nullptr};
  EXPECT_FALSE(tensor->prepareWrite(whole, {Via::Rdma, {}}).take()->isServed());
  ASSERT_TRUE(column.owner->withdraw(column.handle).ok());
  EXPECT_EQ(write->run().message(),
            "write to the tensor of \"owner\": rdma: the tensor has been withdrawn");
}

TEST(RemoteTensorTest, RowsOfForgedHandlesAreRefused) {
  Column column;
  const TensorHandle honest = TensorHandle::parse(column.handle).take();
  TensorHandle keys = honest, rows = honest, memory = honest;
  keys.key ^= 1;
  rows.strides[0] = 1 << 20; // far behind the end
  memory.memory.bytes = 1 << 30;
  for (const TensorHandle &forged : {keys, rows, memory}) {
    auto tensor = column.remote->open(forged.serialize()).take();
    auto write = tensor->prepareWrite(column.view, column.access).take();
    EXPECT_TRUE(write->isServed());
    EXPECT_EQ(write->run().code(), kCollInvalidCall);
  }
  EXPECT_TRUE(column.open()->writeFrom(column.view, column.access).ok());
}

//===-- processes -------------------------------------------------------------------------===//

TEST(RemoteTensorProcessTest, ReadsAndWritesAnotherProcessAndSeesItsEnd) {
  for (const bool killed : {false, true}) {
    OwnerProcess process([](int out, int in) {
      auto transport = tcp();
      auto owner = TensorOwner::create({"child", transport.get(), 0, nullptr}).take();
      auto *data = static_cast<float *>(owner->allocate(400).take());
      std::iota(data, data + 100, 0.f);
      say(out, owner->publish({kCollF32, {10, 10}, {}, data, nullptr}, {true, true}));
      waitForEnd(in);
    });
    auto transport = tcp();
    RemoteTensorsOptions options;
    options.transport = transport.get();
    options.timeoutUs = 10'000'000;
    RemoteTensors remote(options);
    auto opened = remote.open(process.handle);
    ASSERT_TRUE(opened.ok()) << opened.status().toString() << ": " << process.handle;
    RemoteTensor &tensor = **opened;
    for (Via via : {Via::Auto, Via::Ipc, Via::Rdma}) {
      // A column into every second element of a larger array.
      float local[20] = {};
      ASSERT_TRUE(
          tensor
              .readInto({kCollF32, {10, 1}, {2, 1}, local, nullptr}, {via, Region{{0, 7}, {10, 1}}})
              .ok());
      for (int i = 0; i < 10; ++i)
        EXPECT_EQ(local[2 * i], static_cast<float>(10 * i + 7));
    }
    // What is written in one way can be read in the other.
    float value = 0;
    const TensorView one = {kCollF32, {1, 1}, {}, &value, nullptr};
    for (auto [to, from] : {std::pair(Via::Ipc, Via::Rdma), std::pair(Via::Rdma, Via::Ipc)}) {
      const Region place = {{3, to == Via::Ipc ? 3 : 4}, {1, 1}};
      value = -1.f;
      ASSERT_TRUE(tensor.writeFrom(one, {to, place}).ok());
      value = 0;
      ASSERT_TRUE(tensor.readInto(one, {from, place}).ok());
      EXPECT_EQ(value, -1.f);
    }

    EXPECT_EQ(process.end(killed ? SIGKILL : 0), killed ? -SIGKILL : 0);
    EXPECT_EQ(tensor.writeFrom(one, {Via::Ipc, Region{{3, 3}, {1, 1}}}).code(), kCollPeer);
    EXPECT_FALSE(tensor.isMapped());
    EXPECT_FALSE(tensor.writeFrom(one, {Via::Rdma, Region{{3, 3}, {1, 1}}}).ok());
    EXPECT_FALSE(tensor.writeFrom(one, {Via::Auto, Region{{3, 3}, {1, 1}}}).ok());
  }
}

// The owner ends during writes of 4,096 rows that its thread serves.
TEST(RemoteTensorProcessTest, AnOwnerThatEndsOrStopsEndsWritesOfManyRows) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    OwnerProcess process([](int out, int in) {
      auto transport = tcp();
      auto owner = TensorOwner::create({"child", transport.get(), 0, nullptr}).take();
      void *data = owner->allocate(4096 * 4096).take();
      say(out, owner->publish({kCollI8, {4096, 4096}, {}, data, nullptr}, {false, true}));
      waitForEnd(in);
    });
    auto transport = tcp();
    RemoteTensorsOptions options;
    options.transport = transport.get();
    options.timeoutUs = signal == SIGSTOP ? 2'000'000 : 20'000'000;
    RemoteTensors remote(options);
    auto tensor = remote.open(process.handle).take();
    std::vector<char> local(4096 * 2048);
    const TensorView view = {kCollI8, {4096, 2048}, {}, local.data(), nullptr};
    auto write = tensor->prepareWrite(view, {Via::Rdma, Region{{0, 0}, {4096, 2048}}}).take();
    ASSERT_TRUE(write->isServed());
    ASSERT_TRUE(write->run().ok());
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      kill(process.pid, signal);
    });
    Status status;
    for (int i = 0; i < 10'000 && status.ok(); ++i)
      status = write->run();
    killer.join();
    const bool isExpected = signal == SIGSTOP
                                ? status.code() == kCollTimeout
                                : status.code() == kCollPeer || status.code() == kCollLink;
    EXPECT_TRUE(isExpected) << status.toString();
    EXPECT_NE(status.message().find("write to the tensor of \"child\": rdma: "), std::string::npos);
    EXPECT_FALSE(write->run().ok());
    EXPECT_EQ(process.end(SIGKILL), -SIGKILL);
  }
}

} // namespace
} // namespace coll::rt::exchange::test
