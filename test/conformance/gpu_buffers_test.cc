// What only GPU buffers of backend net can get wrong: concurrent operations share slots of staging
// memory, and must not starve each other; compressed messages must give the same bits; damage is
// repaired; a kernel that hangs is ended; a handle of another version is refused.

#include "runtime/backend/net/gpu/mover.h"
#include "runtime/backend/net/mesh.h"
#include "runtime/base/env.h"
#include "runtime/base/narrow.h"
#include "runtime/kernels/compress/compress.h"
#include "runtime/net/gpu/transport.h"
#include "runtime/net/loopback/loopback.h"
#include "test/conformance/harness.h"
#include "test/support/comes_true.h"
#include "test/support/sanitizers.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <unistd.h>

namespace coll::rt::test {

namespace {

constexpr int64_t kElems = 2 << 20; // more segments than a lane has under way at once

class GpuBuffers : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    if (std::string whyNot = whyNotHere(GetParam()); !whyNot.empty())
      GTEST_SKIP() << whyNot;
  }
};

// Starts `left` sums one after the other, then waits for them in reverse order.
void sumMany(Member &m, int left) {
  if (left == 0)
    return;
  Elements data(kCollF32, kElems);
  for (int64_t i = 0; i < kElems; i += 101)
    data.set(i, sample(kCollF32, m.rank + left, i));
  Call call = makeCall(OpKind::AllReduce, kCollF32, kElems, data.data(), data.data());
  Result<Request *> request = m.start(call);
  sumMany(m, left - 1);
  Status outcome = request ? m.wait(*request) : request.status();
  ASSERT_TRUE(outcome.ok()) << outcome.toString();
  for (int64_t i = 0; i < kElems; i += 101)
    ASSERT_EQ(data.get(i), sample(kCollF32, left, i) + sample(kCollF32, 1 + left, i)) << i;
}

} // namespace

TEST_P(GpuBuffers, OperationsUnderWayAtOnceDoNotStarveEachOther) {
  runJob(GetParam(), oneGroup(2), [](Member &m) { sumMany(m, coll::test::kFindsRaces ? 2 : 6); });
}

// The pool has only the blocks that its connections are guaranteed, and the messages under way are
// more than these. The ranks begin with the operations of different groups. The first message of a
// lane that gets no block goes through a slot. Both ends agree before data moves, so that a lane
// may get one in time: in detours_test.cc none does.
TEST_P(GpuBuffers, AFullBouncePoolStopsNoLane) {
  constexpr size_t kGroups = 2;
  static constexpr size_t kCalls = 20;        // in each group more than there are blocks
  static constexpr int64_t kBytes = 80 << 10; // not sent with the call
  // A connection has an account for each direction. The ranks have a GPU each in the fake driver,
  // and may share one elsewhere.
  const uint64_t accounts = GetParam().find("/fake/") != std::string::npos ? 2 : 4;
  const uint64_t sure =
      accounts * net::BouncePool::kGuaranteedBlocks * net::BouncePool::kBlockBytes;
  ScopedEnv limit("COLL_NET_BOUNCE_BYTES", std::to_string(sure).c_str());
  const auto body = [](Member &m) {
    Result<std::unique_ptr<Communicator>> made = m.endpoint.communicator({1, 0});
    ASSERT_TRUE(made.ok()) << made.status().toString();
    const std::array<Communicator *, kGroups> groups = {&m.group, made->get()};
    std::vector<std::vector<char>> data;
    std::vector<Request *> requests;
    const auto valueOf = [](int group, size_t call) {
      return static_cast<char>(static_cast<size_t>(group) * kCalls + call);
    };
    const int first = m.rank;
    for (const int group : {first, 1 - first})
      for (size_t i = 0; i < kCalls; ++i) {
        data.emplace_back(kBytes, m.rank == 0 ? valueOf(group, i) : '\x7f');
        Call call =
            makeCall(OpKind::Broadcast, kCollI8, kBytes, data.back().data(), data.back().data());
        call.root = group; // where rank 0 is in the group
        Result<Request *> request = m.start(*groups[static_cast<size_t>(group)], call);
        ASSERT_TRUE(request.ok()) << request.status().toString();
        requests.push_back(*request);
      }
    for (size_t i = 0; i < requests.size(); ++i) {
      const Status outcome = m.wait(requests[i]);
      EXPECT_TRUE(outcome.ok()) << outcome.toString();
      const int group = i < kCalls ? first : 1 - first;
      EXPECT_TRUE(data[i] == std::vector<char>(kBytes, valueOf(group, i % kCalls))) << i;
    }
  };
  runJob(GetParam(), oneGroup(2), body);
}

//===-- compressed messages -----------------------------------------------------===//

namespace {

// bf16 values, some of them NaN.
std::vector<uint16_t> bf16Bits(unsigned seed, size_t count) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<uint16_t> bits(count);
  for (uint16_t &value : bits)
    value =
        random() % 999 == 0 ? static_cast<uint16_t>(0x7f80 | random()) : f32ToBf16(normal(random));
  return bits;
}

// The results of each rank after calls whose messages are several pages, some with a short last
// page.
std::vector<std::vector<uint16_t>> resultsOf(const std::string &backend) {
  constexpr int64_t kCount = 300'001;
  std::vector<std::vector<uint16_t>> results(2);
  runJob(backend, oneGroup(2), [&](Member &m) {
    const auto rank = static_cast<size_t>(m.rank);
    std::vector<uint16_t> mine = bf16Bits(rank + 1, 2 * kCount), &all = results[rank];
    all.resize(4 * kCount);
    Call gather = makeCall(OpKind::AllGather, kCollBf16, kCount, mine.data(), all.data());
    Call sum = makeCall(OpKind::AllReduce, kCollF32, kCount, mine.data(), &all[2 * kCount]);
    for (const Call &call : {gather, sum}) {
      Status outcome = m.call(call);
      ASSERT_TRUE(outcome.ok()) << outcome.toString();
    }
    for (int from : {0, 1})
      EXPECT_EQ(0, std::memcmp(&all[static_cast<size_t>(from * kCount)],
                               bf16Bits(static_cast<unsigned>(from) + 1, 2 * kCount).data(),
                               2 * kCount));
  });
  return results;
}

} // namespace

class GpuMoverTest : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    std::string whyNot;
    memory_ = makeGpuMemory(GetParam(), whyNot);
    if (!memory_)
      GTEST_SKIP() << whyNot;
  }

  std::unique_ptr<GpuMemory> memory_;
};
using GpuCompression = GpuMoverTest;

TEST_P(GpuCompression, BringsTheBitsThatTravelWithoutIt) {
  memory_.reset(); // the jobs have their own
  EXPECT_TRUE(resultsOf("net/tcp//" + GetParam() + "/kernel") ==
              resultsOf("net/tcp//" + GetParam() + "/compress"));
}

TEST_P(GpuCompression, SumsHaveAsManySourcesAsAnItemHolds) {
  constexpr int kMost = static_cast<int>(kChannelMaxSources);
  std::unique_ptr<network::GpuMover> mover =
      network::GpuMover::create(network::gpuPlatform(), 0, {}).take();
  char *one = mover->allocate(4).take(), *sum = mover->allocate(4).take();
  const float value = 3;
  ASSERT_TRUE(mover->write(one, &value, 4).ok());
  const std::vector<const void *> sources(kMost + 1, one);
  Result<network::Mover::Ticket> ticket =
      mover->reduce(kCollF32, kCollSum, sources.data(), kMost, sum, 1);
  ASSERT_TRUE(ticket.ok()) << ticket.status().toString();
  ASSERT_TRUE(mover->waitFor(*ticket).ok());
  float got = 0;
  ASSERT_TRUE(mover->read(&got, sum, 4).ok());
  EXPECT_EQ(got, 3.0f * kMost);
  EXPECT_EQ(mover->reduce(kCollF32, kCollSum, sources.data(), kMost + 1, sum, 1).status().code(),
            kCollUnsupported);
  mover->release(one);
  mover->release(sum);
}

TEST_P(GpuCompression, MessagesAreShorterAndCheckedWhenTheyCome) {
  constexpr int64_t kBytes = 1'000'000;
  network::GpuMoverOptions options;
  options.compress = options.channel.compress = true;
  options.channel.blocks = 2;
  std::unique_ptr<network::GpuMover> mover =
      network::GpuMover::create(network::gpuPlatform(), 0, options).take();
  const std::vector<uint16_t> data = bf16Bits(1, kBytes / 2);
  char *source = mover->allocate(kBytes).take(), *target = mover->allocate(kBytes).take();
  ASSERT_TRUE(mover->write(source, data.data(), kBytes).ok());

  network::Link link(1, nullptr);
  network::MessagePart sent = **mover->load(link, source, kBytes, /*first=*/true);
  ASSERT_TRUE(comesTrue([&] { return *mover->isFilled(sent); }));
  EXPECT_LT(sent.segment.bytes, kBytes * 8 / 10);
  const std::vector<char> message(static_cast<char *>(sent.segment.data),
                                  static_cast<char *>(sent.segment.data) + sent.segment.bytes);
  mover->release(sent);

  const auto receive = [&](const std::vector<char> &what, uint64_t bytes) {
    network::MessagePart part = **mover->expect(link, target, kBytes, /*first=*/true);
    EXPECT_GE(part.segment.bytes, static_cast<uint64_t>(kBytes));
    std::memcpy(part.segment.data, what.data(), what.size());
    part.segment.bytes = bytes;
    Result<network::Mover::Ticket> ticket = mover->unload(part);
    Status outcome = ticket ? mover->waitFor(*ticket) : ticket.status();
    mover->release(part);
    return outcome;
  };
  EXPECT_EQ(receive(message, message.size() - 16).code(), kCollPeer) << "truncated";
  EXPECT_EQ(receive(message, 0).code(), kCollPeer) << "empty";
  for (size_t at : {0, 4, 8, 12, 16, 18, 20, 22}) {
    std::vector<char> spoilt = message;
    spoilt[at] = static_cast<char>(spoilt[at] ^ 0x5a);
    EXPECT_EQ(receive(spoilt, spoilt.size()).code(), kCollPeer) << "byte " << at;
  }
  Status outcome = receive(message, message.size());
  EXPECT_TRUE(outcome.ok()) << outcome.toString();
  std::vector<uint16_t> back(data.size());
  ASSERT_TRUE(mover->read(back.data(), target, kBytes).ok());
  EXPECT_TRUE(back == data);
  mover->release(source);
  mover->release(target);
}

//===-- damage --------------------------------------------------------------------===//

namespace {

// The platform with a hook that runs before a kernel begins, so before the kernel reads what a
// mover has posted first.
network::GpuPlatform before(std::function<void(const ChannelLaunch &)> hook) {
  network::GpuPlatform platform = network::gpuPlatform();
  platform.launch = [hook = std::move(hook), launch = platform.launch](const ChannelLaunch &which,
                                                                       dl::CudaStream stream) {
    hook(which);
    return launch(which, stream);
  };
  return platform;
}

} // namespace

// The kernel cannot decode data that the host has checked, so the host restores it.
TEST_P(GpuCompression, WhatTheKernelCannotDecodeIsCopied) {
  constexpr int64_t kBytes = 300'001;
  network::GpuMoverOptions options;
  options.compress = options.channel.compress = true;
  options.channel.blocks = 2;
  std::vector<uint8_t> data(kBytes);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint8_t>(i % 4 == 3 ? i / 4096 : 0);
  std::vector<uint64_t> message(compressedBound(kBytes) / 8 + 1);
  const uint64_t length = kernels::compressReference(message.data(), data.data(), kBytes);
  for (const bool isLasting : {false, true}) {
    uint8_t *damaged = nullptr;
    ChannelShared *shared = nullptr;
    const network::GpuPlatform platform = before([&](const ChannelLaunch &launch) {
      shared = launch.shared; // the same address for the host
      *damaged ^= 0xff;
    });
    auto mover = network::GpuMover::create(platform, 0, options).take();
    char *target = mover->allocate(kBytes).take();
    network::Link link(1, nullptr);
    network::MessagePart part = **mover->expect(link, target, kBytes, /*first=*/true);
    std::memcpy(part.segment.data, message.data(), length);
    part.segment.bytes = length;
    damaged = static_cast<uint8_t *>(part.segment.data) + 16 + 8 * 3 + 6; // form of page 3
    const network::Mover::Ticket ticket = mover->unload(part).take();
    const uint64_t *done = &shared->done[network::GpuChannel::In].seq;
    ASSERT_TRUE(comesTrue([&] { return __atomic_load_n(done, __ATOMIC_ACQUIRE) != 0; }));
    if (!isLasting)
      *damaged ^= 0xff;
    const Status outcome = mover->waitFor(ticket);
    mover->drain();
    if (isLasting) {
      EXPECT_EQ(outcome.code(), kCollDevice);
      EXPECT_NE(outcome.message().find("cannot be repaired"), std::string::npos)
          << outcome.message();
      EXPECT_NE(outcome.message().find("in slot 0 of queue"), std::string::npos)
          << outcome.message();
    } else {
      EXPECT_TRUE(outcome.ok()) << outcome.toString();
      std::vector<uint8_t> back(kBytes);
      ASSERT_TRUE(mover->read(back.data(), target, kBytes).ok());
      EXPECT_TRUE(back == data);
    }
    EXPECT_EQ(mover->repairs(), isLasting ? 0u : 1u);
    mover->release(part);
    mover->release(target);
  }
}

//===-- a kernel that does not move -----------------------------------------------===//

namespace {

// Replaces the kernel: does none of its work until it is told to exit.
class StuckKernel {
public:
  explicit StuckKernel(ChannelError error) : platform(network::gpuPlatform()) {
    platform.launch = [this, error](const ChannelLaunch &launch, dl::CudaStream) {
      thread_ = std::thread([this, error, launch] { run(error, launch); });
      return Status::okay();
    };
  }
  ~StuckKernel() {
    if (thread_.joinable())
      thread_.join();
  }

  network::GpuPlatform platform;
  bool hasLeft = false; // to be seen once it has said so

private:
  void run(ChannelError error, const ChannelLaunch &launch) {
    ChannelShared &shared = *launch.shared; // the same address for the host
    __atomic_store_n(&shared.error[0], static_cast<uint32_t>(error), __ATOMIC_RELEASE);
    (void)comesTrue([&] { return __atomic_load_n(&shared.abort, __ATOMIC_ACQUIRE) != 0; });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    hasLeft = true;
    for (uint32_t block = 0; block < launch.numQueues * launch.blocksPerQueue; ++block)
      __atomic_store_n(&shared.exited[block].seq, launch.number, __ATOMIC_RELEASE);
  }

  std::thread thread_;
};

} // namespace

using GpuStuck = GpuMoverTest;

TEST_P(GpuStuck, AKernelThatCannotBeLaunchedIsNotWaitedFor) {
  network::GpuPlatform platform = network::gpuPlatform();
  platform.launch = [](const ChannelLaunch &, dl::CudaStream) {
    return Status(kCollDevice, "no kernel today");
  };
  auto mover = network::GpuMover::create(platform, 0, {}).take();
  char *memory = mover->allocate(128).take();
  EXPECT_EQ(mover->copy(memory + 64, memory, 64).status().message(), "no kernel today");
  mover->release(memory);
  const auto begin = std::chrono::steady_clock::now();
  mover.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

// Without a report, like when the GPU is lost, or with that of one block.
TEST_P(GpuStuck, AKernelThatDoesNotMoveIsEnded) {
  for (const ChannelError error : {ChannelError::None, ChannelError::BadItem}) {
    StuckKernel kernel(error);
    network::GpuMoverOptions options;
    options.channel.blocks = 2;
    if (error == ChannelError::None)
      options.channel.timeoutUs = 50'000;
    auto mover = network::GpuMover::create(kernel.platform, 0, options).take();
    char *memory = mover->allocate(128).take();
    network::Mover::Ticket last = 0;
    for (uint32_t i = 0; i < 2 * kChannelSlots; ++i) // some wait for a slot
      last = mover->copy(memory + 64, memory, 64).take();
    EXPECT_EQ(mover->waitFor(last).code(), kCollDevice);
    mover->drain();
    EXPECT_TRUE(kernel.hasLeft);
    mover->drain(); // at once
    const Status outcome = mover->waitFor(last);
    EXPECT_EQ(outcome.code(), kCollDevice);
    EXPECT_NE(outcome.message().find(error == ChannelError::None ? "in 50 ms" : "does not know"),
              std::string::npos)
        << outcome.message();
    EXPECT_EQ(mover->copy(memory + 64, memory, 64).status().code(), kCollDevice);
    mover->release(memory);
  }
}

//===-- paths by size -----------------------------------------------------------===//

// Messages of one operation take different paths, as a table says.
TEST_P(GpuBuffers, ATableSendsShortMessagesThroughSlots) {
  const size_t end = GetParam().rfind('/');
  const std::string own = GetParam().substr(end + 1), path = own == "copy" ? "host" : own;
  const std::string file = testing::TempDir() + "gpu_paths_" + std::to_string(getpid());
  std::ofstream(file) << R"({"format": "coll routes", "version": 1, "routes": [], "paths": [
      {"kind": "tcp", "max_bytes": 100000, "path": "kernel"},
      {"kind": "tcp", "path": ")"
                      << path << R"("}]})";
  const std::string byDefault = GetParam().substr(0, end);
  const std::vector<std::vector<uint16_t>> expected = resultsOf(byDefault);
  ScopedEnv table("COLL_ROUTES", file.c_str());
  EXPECT_TRUE(resultsOf(byDefault) == expected);
  unlink(file.c_str());
}

//===-- handles -----------------------------------------------------------------===//

namespace {

// A connection with descriptors of a version that this library does not know.
class NewerConnection final : public net::Connection {
public:
  const net::DeviceHandle *deviceHandle() const override { return &handle_; }
  Result<net::Request *> isend(const net::Segment *, int, uint64_t) override { return none(); }
  Result<net::Request *> irecv(const net::Segment *, int, uint64_t) override { return none(); }
  Result<net::Request *> iwrite(const net::Segment *, int, const net::RemoteKey &,
                                uint64_t) override {
    return none();
  }
  Result<net::Request *> iread(const net::Segment *, int, const net::RemoteKey &,
                               const net::RemoteRows &) override {
    return none();
  }
  Result<net::Request *> iflush(const net::Segment *, int) override { return none(); }
  Result<net::Completion> test(net::Request *) override { return net::Completion(); }
  void close() override {}

private:
  static net::Request *none() { return nullptr; }
  const net::DeviceHandle handle_ = {net::DeviceType::Unpack, kUnpackVersion + 1, nullptr, 0, true};
};

} // namespace

using GpuUnpacking = GpuMoverTest;

TEST_P(GpuUnpacking, AHandleOfAnotherVersionIsRefused) {
  network::GpuMoverOptions options;
  options.path = network::GpuPath::Unpack;
  options.channel.blocks = 2;
  std::unique_ptr<network::GpuMover> mover =
      network::GpuMover::create(network::gpuPlatform(), 0, options).take();
  char *target = mover->allocate(64).take();
  network::Link link(1, std::make_unique<NewerConnection>());
  for (int again = 0; again < 2; ++again) {
    const Status status = mover->expect(link, target, 64, /*first=*/true).status();
    EXPECT_EQ(status.code(), kCollUnsupported);
    EXPECT_EQ(status.message(), "a device handle of version 0x8, this kernel reads 0x7");
  }
  mover->release(target);
}

namespace {

// One message of `bytes` bytes from host memory, which is to be unpacked.
struct UnpackJob {
  static constexpr int64_t kBytes = 100'000, kGuard = 64;

  explicit UnpackJob(std::function<void(UnpackMeta &, int32_t slot)> damage,
                     network::GpuPath path = network::GpuPath::Unpack) {
    net::DeviceOptions options;
    options.receive = net::ReceivePath::Unpack;
    options.send = path == network::GpuPath::Pack ? net::SendPath::Pack : net::SendPath::Host;
    options.unpackOnConnect = true;
    options.slots = net::SlotOrder::Landing;
    options.gpu = 0;
    const dl::Cuda &cuda = *network::gpuPlatform().cuda;
    transport =
        net::createDeviceTransport(net::createLoopbackTransport().take(), cuda, options).take();
    memory = transport->regMr(0, {nullptr, ~uint64_t(0), net::MemoryKind::Cuda, -1, 0}).take();
    auto listener = transport->listen(0).take();
    auto connector = transport->connect(0, listener->handle()).take();
    std::unique_ptr<net::Connection> theirs;
    for (std::unique_ptr<net::Connection> mine; !link || !theirs;) {
      if (!theirs)
        theirs = connector->poll().take();
      if (!link && (mine = listener->accept().take()))
        link = std::make_unique<network::Link>(1, std::move(mine));
    }
    sender = std::move(theirs);

    platform = before([this, damage](const ChannelLaunch &) {
      const uint64_t meta = connection().unpackView().meta; // the same address for the host
      damage(*reinterpret_cast<UnpackMeta *>(meta), part.pageSlot);
    });
    network::GpuMoverOptions moverOptions;
    moverOptions.path = path;
    moverOptions.memory = memory;
    moverOptions.channel.blocks = 2;
    mover = network::GpuMover::create(platform, 0, moverOptions).take();
    target = mover->allocate(kBytes + 2 * kGuard).take();
    EXPECT_TRUE(mover->zero(target, kBytes + 2 * kGuard).ok());
    data.resize(kBytes);
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<uint8_t>(i * 7 + i / 4096 + 1);
  }
  ~UnpackJob() {
    mover->release(part);
    mover->release(target);
    mover.reset();
    link.reset();
    sender.reset();
    transport->deregMr(memory);
  }
  net::DeviceConnection &connection() {
    return static_cast<net::DeviceConnection &>(link->connection());
  }
  void receive() {
    part = **mover->expect(*link, target + kGuard, kBytes, /*first=*/true);
    net::Request *wanted = connection().irecv(&part.segment, 1, 1).take();
    const net::Segment segment{data.data(), kBytes, nullptr};
    net::Request *sent = sender->isend(&segment, 1, 1).take();
    EXPECT_TRUE(net::wait(*sender, sent, 60'000'000).ok());
    landed(wanted);
  }
  void landed(net::Request *wanted) {
    net::Completion completion;
    EXPECT_TRUE(comesTrue([&] {
      completion = connection().test(wanted).take();
      return completion.done;
    }));
    part.pageSlot = completion.slot;
  }
  Status unpack() {
    Result<network::Mover::Ticket> ticket = mover->unload(part);
    const Status outcome = ticket ? mover->waitFor(*ticket) : ticket.status();
    mover->drain();
    return outcome;
  }
  // The guards must be unchanged; `isThere`: all of the data must have arrived.
  void expect(bool isThere) {
    std::vector<uint8_t> all(kBytes + 2 * kGuard);
    ASSERT_TRUE(mover->read(all.data(), target, kBytes + 2 * kGuard).ok());
    EXPECT_EQ(std::equal(data.begin(), data.end(), all.begin() + kGuard), isThere);
    EXPECT_EQ(std::count(all.begin(), all.begin() + kGuard, 0), kGuard);
    EXPECT_EQ(std::count(all.end() - kGuard, all.end(), 0), kGuard);
  }

  std::unique_ptr<net::DeviceTransport> transport;
  net::Memory *memory = nullptr;
  std::unique_ptr<net::Connection> sender;
  std::unique_ptr<network::Link> link;
  network::GpuPlatform platform;
  std::unique_ptr<network::GpuMover> mover;
  char *target = nullptr;
  network::MessagePart part;
  std::vector<uint8_t> data;
};

} // namespace

// The descriptors were damaged after the host had written them, so the host writes them again.
TEST_P(GpuUnpacking, DamagedPagesAreWrittenAndReadAgain) {
  using Damage = std::function<void(UnpackMeta &, int32_t)>;
  const Damage damages[] = {
      [](UnpackMeta &meta, int32_t slot) { meta.pages[slot][1].bufferOff = ~uint64_t{0}; },
      [](UnpackMeta &meta, int32_t slot) { meta.pages[slot][0].bufferOff = UnpackJob::kBytes - 1; },
      [](UnpackMeta &meta, int32_t slot) { meta.pages[slot][3].bounceOff = ~uint32_t{0}; },
      [](UnpackMeta &meta, int32_t slot) { meta.pages[slot][2].len = ~uint32_t{0}; },
      [](UnpackMeta &meta, int32_t slot) { meta.count[slot] = kUnpackSlotPages + 1; },
  };
  for (const Damage &damage : damages) {
    UnpackJob job(damage);
    job.receive();
    const Status outcome = job.unpack();
    EXPECT_TRUE(outcome.ok()) << outcome.toString();
    job.expect(/*isThere=*/true);
    EXPECT_EQ(job.mover->repairs(), 1u);
    EXPECT_EQ(job.transport->stats().republished, 1u);
  }
}

// The path `pack`: a kernel fills the pages that are sent, and another kernel fetches the received
// data.
TEST_P(GpuUnpacking, ItsTwinFillsThePagesOfASend) {
  UnpackJob job([](UnpackMeta &, int32_t) {}, network::GpuPath::Pack);
  network::Link out(0, std::move(job.sender));
  char *source = job.mover->allocate(UnpackJob::kBytes).take();
  ASSERT_TRUE(job.mover->write(source, job.data.data(), UnpackJob::kBytes).ok());
  job.part =
      **job.mover->expect(*job.link, job.target + UnpackJob::kGuard, UnpackJob::kBytes, true);
  net::Request *wanted = job.connection().irecv(&job.part.segment, 1, 1).take();
  // As many messages as PACK has slots; others take another path.
  std::vector<network::MessagePart> loaded;
  for (uint32_t i = 0; i < kUnpackSlots; ++i)
    loaded.push_back(**job.mover->load(out, source, UnpackJob::kBytes, /*first=*/false));
  for (const bool first : {false, true}) {
    network::MessagePart instead = **job.mover->load(out, source, UnpackJob::kBytes, first);
    EXPECT_NE(instead.slots, nullptr);
    job.mover->drain();
    job.mover->release(instead);
  }
  for (uint32_t i = 1; i < kUnpackSlots; ++i)
    job.mover->release(loaded[i]);

  net::Request *sent = out.connection().isend(&loaded[0].segment, 1, 1).take();
  ASSERT_TRUE(comesTrue([&] {
    EXPECT_TRUE(!loaded[0].to || job.mover->feed(loaded[0], sent).ok());
    return out.connection().test(sent).take().done;
  }));
  job.mover->release(loaded[0]);
  job.landed(wanted);
  EXPECT_TRUE(job.unpack().ok());
  job.expect(/*isThere=*/true);
  EXPECT_EQ(job.transport->stats().packedMessages, 1u);
  EXPECT_EQ(job.transport->stats().unpackedMessages, 1u);
  job.mover->release(source);
}

// Messages for which the transport has no pages go through slots.
TEST_P(GpuUnpacking, ADetourLeadsThroughSlots) {
  UnpackJob job([](UnpackMeta &, int32_t) {}, network::GpuPath::Pack);
  network::Link out(0, std::move(job.sender));
  char *source = job.mover->allocate(UnpackJob::kBytes).take();
  ASSERT_TRUE(job.mover->write(source, job.data.data(), UnpackJob::kBytes).ok());
  job.part =
      **job.mover->expect(*job.link, job.target + UnpackJob::kGuard, UnpackJob::kBytes, true);
  network::MessagePart sent = **job.mover->load(out, source, UnpackJob::kBytes, /*first=*/true);
  ASSERT_EQ(sent.to, &out);
  for (int i = 0; i < 2; ++i) { // once is enough
    ASSERT_TRUE(job.mover->detour(job.part, /*isSend=*/false).ok());
    ASSERT_TRUE(job.mover->detour(sent, /*isSend=*/true).ok());
  }
  EXPECT_TRUE(job.part.slots && !job.part.link && sent.slots && !sent.to);
  ASSERT_TRUE(comesTrue([&] { return *job.mover->isFilled(sent); }));
  net::Request *wanted = job.connection().irecv(&job.part.segment, 1, 1).take();
  net::Request *posted = out.connection().isend(&sent.segment, 1, 1).take();
  EXPECT_TRUE(net::wait(out.connection(), posted, 60'000'000).ok());
  job.landed(wanted);
  EXPECT_TRUE(job.unpack().ok());
  job.expect(/*isThere=*/true);
  EXPECT_EQ(job.transport->stats().packedMessages, 0u);
  EXPECT_EQ(job.transport->stats().unpackedMessages, 0u);
  job.mover->release(sent);
  // The original paths are free again.
  for (uint32_t i = 0; i < kUnpackSlots; ++i) {
    std::optional<network::MessagePart> again =
        *job.mover->load(out, source, UnpackJob::kBytes, /*first=*/false);
    EXPECT_TRUE(again && again->to);
  }
  job.mover->release(source);
}

// Damage that persists is an error after a number of tries.
TEST_P(GpuUnpacking, TriesAreBounded) {
  UnpackJob job([](UnpackMeta &, int32_t) {});
  job.receive();
  job.part.segment.bytes -= 1; // a page leads out of it, however often it is written
  const Status outcome = job.unpack();
  EXPECT_EQ(outcome.code(), kCollDevice);
  EXPECT_NE(outcome.message().find("repaired 2 times"), std::string::npos) << outcome.message();
  EXPECT_NE(outcome.message().find("slot "), std::string::npos) << outcome.message();
  EXPECT_EQ(job.mover->repairs(), 2u);
  EXPECT_EQ(job.transport->stats().republished, 2u);
  job.expect(/*isThere=*/false);
}

// Other items of its queue continue, and their tickets end in order.
TEST_P(GpuUnpacking, TicketsEndInOrderAroundARepair) {
  UnpackJob job([](UnpackMeta &meta, int32_t slot) { meta.pages[slot][1].len = ~uint32_t{0}; });
  job.receive();
  char *copies = job.mover->allocate(40 * 64).take();
  const network::Mover::Ticket first = job.mover->unload(job.part).take();
  network::Mover::Ticket last = first;
  for (int i = 0; i < 39; ++i) // more than there are slots
    last = job.mover->copy(copies + (i + 1) * 64, copies, 64).take();
  EXPECT_TRUE(job.mover->waitFor(last).ok());
  EXPECT_TRUE(*job.mover->isDone(first));
  EXPECT_EQ(job.mover->repairs(), 1u);
  job.expect(/*isThere=*/true);
  job.mover->release(copies);
}

INSTANTIATE_TEST_SUITE_P(fake, GpuCompression, testing::Values("fake"));
INSTANTIATE_TEST_SUITE_P(gpu, GpuCompression, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(fake, GpuStuck, testing::Values("fake"));
INSTANTIATE_TEST_SUITE_P(gpu, GpuStuck, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(fake, GpuUnpacking, testing::Values("fake"));
INSTANTIATE_TEST_SUITE_P(gpu, GpuUnpacking, testing::Values("gpu"));

INSTANTIATE_TEST_SUITE_P(fake, GpuBuffers,
                         testing::Values("net/tcp//fake/kernel", "net/tcp//fake/unpack",
                                         "net/tcp//fake/pack", "net/tcp//fake/copy"));
INSTANTIATE_TEST_SUITE_P(gpu, GpuBuffers,
                         testing::Values("net/tcp//gpu/kernel", "net/tcp//gpu/unpack",
                                         "net/tcp//gpu/pack", "net/tcp//gpu/copy"));

} // namespace coll::rt::test
