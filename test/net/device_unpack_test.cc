// UNPACK: descriptors, slots, publication, back-pressure.

#include "test/net/device_harness.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <thread>

namespace coll::net::test {
namespace {

class UnpackTest : public DeviceTest {
protected:
  // Sends `data` from host memory and receives it into `to`; the kernel unpacks it.
  void exchange(Ends &ends, HostKernel &kernel, std::vector<uint8_t> &data, const GpuBuffer &to,
                uint64_t capacity) {
    Segment into = to.segment(0, capacity);
    Request *wanted = post(ends.right->irecv(&into, 1, 1));
    Request *sent = send(*ends.left, data, 1);
    expectDone(*ends.right, wanted, data.size());
    expectDone(*ends.left, sent, data.size());
    std::memset(to.data, 0xee, to.bytes);
    lastPages_ = kernel.unpack(to.data, capacity);
    ends.right->consumed();
    const std::vector<uint8_t> untouched(to.bytes - data.size(), 0xee);
    ASSERT_TRUE(std::equal(data.begin(), data.end(), to.data));
    ASSERT_TRUE(std::equal(untouched.begin(), untouched.end(), to.data + data.size()));
  }
  // Waits for the request; returns an empty completion after an error.
  Completion awaitDone(Connection &connection, Request *request) {
    for (;;) {
      Result<Completion> completion = connection.test(request);
      EXPECT_TRUE(completion.ok()) << completion.status().toString();
      if (!completion.ok() || completion->done)
        return completion.ok() ? *completion : Completion();
      std::this_thread::yield();
    }
  }
  // Runs `body` for connections with SlotOrder::Landing, with plain and with scattered data.
  template <typename Body>
  void byLanding(Body body) {
    for (bool scatter : {false, true}) {
      DeviceOptions options;
      options.scatter = scatter;
      options.slots = SlotOrder::Landing;
      make(options);
      {
        Ends ends = connect();
        auto &right = static_cast<DeviceConnection &>(*ends.right);
        HostKernel kernel(right, right_->bounceStats(0).limitBytes);
        body(ends, right, kernel, allocate(*right_, 100'000));
      }
      DeviceTest::TearDown();
    }
  }
  uint64_t lastPages_ = 0;
};

TEST_P(UnpackTest, HandleIsWhatNcclExpects) {
  make();
  Ends ends = connect();
  EXPECT_EQ(ends.left->deviceHandle(), nullptr); // receives only
  const DeviceHandle *handle = ends.right->deviceHandle();
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(handle->type, DeviceType::Unpack);
  EXPECT_EQ(handle->version, 7);
  EXPECT_EQ(handle->bytes, 24u);
  EXPECT_TRUE(handle->needsProgress);
  EXPECT_TRUE(rt::dl::cudaPointerInfo(fake_.table(), handle->handle).device);
  auto content = *static_cast<rt::UnpackHandle *>(handle->handle);
  EXPECT_EQ(content.head, ~uint64_t(0));
  KernelView view = static_cast<DeviceConnection &>(*ends.right).unpackView();
  EXPECT_EQ(view.meta, reinterpret_cast<uint64_t>(content.meta));
  EXPECT_EQ(view.bounce, reinterpret_cast<uint64_t>(content.bounce));
  EXPECT_EQ(view.bounceBytes, right_->bounceStats(0).limitBytes);
  EXPECT_EQ(right_->devices()[0].deviceType, DeviceType::Unpack);
  EXPECT_EQ(right_->devices()[0].deviceVersion, 7);
  EXPECT_EQ(left_->devices()[0].deviceType, DeviceType::Host);
}

TEST_P(UnpackTest, EverySizeComesOutWhole) {
  for (bool scatter : {false, true})
    for (const PagePolicy &pages : {kPagesForNccl, kPagesWhole}) {
      DeviceOptions options;
      options.scatter = scatter;
      options.pages = pages;
      make(options);
      {
        Ends ends = connect();
        HostKernel kernel(*ends.right, right_->bounceStats(0).limitBytes);
        GpuBuffer to = allocate(*right_, kMaxDeviceMessageBytes);
        for (uint64_t bytes : messageSizes()) {
          std::vector<uint8_t> data = pattern(bytes, bytes + 9);
          exchange(ends, kernel, data, to, kMaxDeviceMessageBytes);
          exchange(ends, kernel, data, to, std::max<uint64_t>(bytes, 1)); // no room to spare
          EXPECT_EQ(lastPages_ == 0, bytes == 0);
          if (!scatter && pages.divisor == 1) {
            EXPECT_LE(lastPages_, 9u);
          }
        }
        EXPECT_EQ(right_->stats().unpackedMessages, 2 * messageSizes().size());
        EXPECT_GT(right_->stats().unpackedPages, 0u);
        EXPECT_EQ(right_->bounceStats(0).usedBytes, 0u);
      }
      DeviceTest::TearDown(); // the connections before their transports
    }
}

TEST_P(UnpackTest, TooLargeAndMisplacedReceivesAreRefused) {
  make();
  Ends ends = connect();
  GpuBuffer to = allocate(*right_, kMaxDeviceMessageBytes + 16);
  GpuBuffer other = allocate(*right_, 100, /*ordinal=*/1);
  auto code = [&](const std::vector<Segment> &segments) {
    return ends.right->irecv(segments.data(), static_cast<int>(segments.size()), 1).status().code();
  };
  EXPECT_EQ(code({to.segment(0, kMaxDeviceMessageBytes + 1)}), kCollInvalidCall);
  EXPECT_EQ(code({to.segment(0, 8), to.segment(8, 8)}), kCollInvalidCall);
  EXPECT_EQ(code({to.segment(kMaxDeviceMessageBytes, 17)}), kCollInvalidCall);
  EXPECT_EQ(code({other.segment()}), kCollInvalidCall); // another GPU's
  HostKernel kernel(*ends.right);
  std::vector<uint8_t> data = pattern(100, 1);
  exchange(ends, kernel, data, to, 100);
}

TEST_P(UnpackTest, TruncationFailsOneMessageAndKeepsItsSlot) {
  for (bool scatter : {false, true}) {
    DeviceOptions options;
    options.scatter = scatter;
    make(options);
    {
      Ends ends = connect();
      HostKernel kernel(*ends.right);
      GpuBuffer to = allocate(*right_, 1 << 20);
      std::vector<uint8_t> data = pattern(200'000, 1);
      Segment small = to.segment(0, 1000);
      Request *wanted = post(ends.right->irecv(&small, 1, 1));
      Request *sent = send(*ends.left, data, 1);
      EXPECT_EQ(outcome(*ends.right, wanted), kCollMismatch);
      (void)outcome(*ends.left, sent);
      EXPECT_EQ(kernel.unpack(to.data, 1000), 0u);
      ends.right->consumed();
      exchange(ends, kernel, data, to, 1 << 20);
    }
    DeviceTest::TearDown();
  }
}

TEST_P(UnpackTest, SlotsArePushedBackUntilConsumed) {
  make();
  Ends ends = connect();
  HostKernel kernel(*ends.right);
  GpuBuffer to = allocate(*right_, 1000);
  Segment into = to.segment();
  std::vector<uint8_t> data = pattern(1000, 2);
  for (uint32_t i = 0; i < rt::kUnpackSlots; ++i) {
    Request *wanted = post(ends.right->irecv(&into, 1, 1));
    expectDone(*ends.left, send(*ends.left, data, 1), 1000);
    expectDone(*ends.right, wanted, 1000);
  }
  Result<Request *> full = ends.right->irecv(&into, 1, 1);
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(*full, nullptr);
  EXPECT_EQ(right_->stats().refused, 1u);
  kernel.unpack(to.data, 1000);
  ends.right->consumed();
  Request *wanted = post(ends.right->irecv(&into, 1, 1));
  ends.right->consumed(); // the second message
  expectDone(*ends.left, send(*ends.left, data, 1), 1000);
  expectDone(*ends.right, wanted, 1000);
  for (uint32_t i = 0; i < rt::kUnpackSlots; ++i)
    EXPECT_GT(kernel.unpack(to.data, 1000), 0u);
}

TEST_P(UnpackTest, WhatHasNotArrivedCannotBeConsumed) {
  make();
  Ends ends = connect();
  HostKernel kernel(*ends.right);
  GpuBuffer to = allocate(*right_, 1000);
  Segment into = to.segment();
  ends.right->consumed(); // there is nothing
  Request *wanted = post(ends.right->irecv(&into, 1, 1));
  ends.right->consumed(); // its pages are still written
  EXPECT_GT(right_->bounceStats(0).usedBytes, 0u);
  std::vector<uint8_t> data = pattern(1000, 3);
  expectDone(*ends.left, send(*ends.left, data, 1), 1000);
  expectDone(*ends.right, wanted, 1000);
  EXPECT_GT(right_->bounceStats(0).usedBytes, 0u);
  kernel.unpack(to.data, 1000);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), to.data));
}

TEST_P(UnpackTest, ImplicitConsumptionFollowsLaterPosts) {
  DeviceOptions options;
  options.implicitConsume = 8;
  make(options);
  Ends ends = connect();
  HostKernel kernel(*ends.right);
  GpuBuffer to = allocate(*right_, 700'000);
  for (int i = 0; i < 50; ++i) {
    std::vector<uint8_t> data = pattern(700'000, static_cast<uint64_t>(i));
    Segment into = to.segment();
    Request *wanted = post(ends.right->irecv(&into, 1, 1));
    Request *sent = send(*ends.left, data, 1);
    expectDone(*ends.right, wanted, data.size());
    expectDone(*ends.left, sent, data.size());
    kernel.unpack(to.data, to.bytes);
    ASSERT_TRUE(std::equal(data.begin(), data.end(), to.data));
    ends.right->consumed(); // says nothing new
  }
  EXPECT_EQ(right_->bounceStats(0).usedBytes, 8 * 2 * BouncePool::kBlockBytes);
}

TEST_P(UnpackTest, MessagesFinishInAnyOrderAndUnpackInTheOrderOfPosts) {
  make();
  Ends ends = connect();
  HostKernel kernel(*ends.right);
  GpuBuffer to = allocate(*right_, 100'000);
  Segment into = to.segment();
  std::vector<Request *> wanted;
  std::vector<std::vector<uint8_t>> data;
  for (uint64_t tag = 0; tag < 6; ++tag) {
    wanted.push_back(post(ends.right->irecv(&into, 1, tag)));
    data.push_back(pattern(tag == 3 ? 0 : 10'000 * (tag + 1), tag));
  }
  for (uint64_t tag = 6; tag-- > 0;) {
    Request *sent = send(*ends.left, data[tag], tag);
    expectDone(*ends.right, wanted[tag], data[tag].size());
    expectDone(*ends.left, sent, data[tag].size());
  }
  for (uint64_t tag = 0; tag < 6; ++tag) {
    kernel.unpack(to.data, to.bytes);
    ends.right->consumed();
    EXPECT_TRUE(std::equal(data[tag].begin(), data[tag].end(), to.data)) << tag;
  }
  EXPECT_EQ(right_->bounceStats(0).usedBytes, 0u);
}

// A kernel has found its pages damaged, so the host writes them again from its copy.
TEST_P(UnpackTest, SlotsAreWrittenAgain) {
  byLanding([&](Ends &ends, DeviceConnection &right, HostKernel &kernel, const GpuBuffer &to) {
    Segment into = to.segment();
    Request *wanted = post(right.irecv(&into, 1, 1));
    std::vector<uint8_t> data = pattern(100'000, 3);
    expectDone(*ends.left, send(*ends.left, data, 1), data.size());
    const Completion landed = awaitDone(right, wanted);
    const auto slot = static_cast<uint64_t>(landed.slot);
    auto &meta = *reinterpret_cast<rt::UnpackMeta *>(right.unpackView().meta);
    std::memset(static_cast<void *>(meta.pages[slot]), 0xff, sizeof(meta.pages[slot]));
    meta.count[slot] = ~uint64_t(0);
    EXPECT_TRUE(right.republish(landed.slot).ok());
    EXPECT_GT(kernel.unpackSlot(slot, to.data, to.bytes), 0u);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), to.data));
    right.consumed(landed.slot);
    for (int32_t none : {landed.slot, -1, int32_t(rt::kUnpackSlots)})
      EXPECT_EQ(right.republish(none).code(), kCollInvalidCall) << none;
    EXPECT_EQ(right_->stats().republished, 1u);
    right.close();
    EXPECT_FALSE(right.republish(landed.slot).ok());
  });
}

TEST_P(UnpackTest, SlotsByLandingAreTakenAndFreedInAnyOrder) {
  byLanding([&](Ends &ends, DeviceConnection &right, HostKernel &kernel, const GpuBuffer &to) {
    Segment into = to.segment();
    // There are more receives than slots, and the message of the last one arrives first.
    constexpr uint64_t kMessages = rt::kUnpackSlots + 4;
    std::vector<Request *> wanted;
    for (uint64_t tag = 0; tag < kMessages; ++tag)
      wanted.push_back(post(right.irecv(&into, 1, tag)));
    auto bytesOf = [](uint64_t tag) { return 1000 + 4000 * tag; };
    std::deque<std::pair<uint64_t, int32_t>> held; // message, slot
    auto consumeOne = [&](bool oldest) {
      auto [tag, slot] = oldest ? held.front() : held.back();
      oldest ? held.pop_front() : held.pop_back();
      std::vector<uint8_t> data = pattern(bytesOf(tag), tag);
      EXPECT_GT(kernel.unpackSlot(static_cast<uint64_t>(slot), to.data, to.bytes), 0u);
      EXPECT_TRUE(std::equal(data.begin(), data.end(), to.data)) << tag;
      right.consumed(slot);
    };
    for (uint64_t tag = kMessages; tag-- > 0;) {
      std::vector<uint8_t> data = pattern(bytesOf(tag), tag);
      Request *sent = send(*ends.left, data, tag);
      expectDone(*ends.left, sent, data.size());
      if (held.size() == rt::kUnpackSlots) {
        for (int i = 0; i < 100; ++i) { // landed or not, there is no slot
          Result<Completion> completion = right.test(wanted[tag]);
          ASSERT_TRUE(completion.ok());
          ASSERT_FALSE(completion->done);
        }
        consumeOne(/*oldest=*/tag % 2 == 0);
      }
      Completion completion = awaitDone(right, wanted[tag]);
      EXPECT_EQ(completion.bytes, data.size());
      ASSERT_GE(completion.slot, 0);
      held.emplace_back(tag, completion.slot);
    }
    while (!held.empty())
      consumeOne(/*oldest=*/held.size() % 3 == 0);
    EXPECT_EQ(right_->bounceStats(0).usedBytes, 0u);
    right.consumed(3);  // holds nothing
    right.consumed(99); // nor is there such a slot
  });
}

TEST_P(UnpackTest, WhatNeedsNoUnpackingHasNoSlotByLanding) {
  DeviceOptions options;
  options.slots = SlotOrder::Landing;
  options.unpackThreshold = 500;
  make(options);
  Ends ends = connect();
  GpuBuffer to = allocate(*right_, 1000);
  for (uint64_t bytes : {uint64_t(0), uint64_t(499)}) { // empty; copied by the host
    std::vector<uint8_t> data = pattern(bytes, 1);
    Segment into = to.segment(0, bytes == 0 ? to.bytes : bytes);
    Request *wanted = post(ends.right->irecv(&into, 1, 1));
    expectDone(*ends.left, send(*ends.left, data, 1), bytes);
    Completion completion = awaitDone(*ends.right, wanted);
    EXPECT_EQ(completion.bytes, bytes);
    EXPECT_EQ(completion.slot, -1);
  }
  Segment small = to.segment(0, 600); // fails
  Request *wanted = post(ends.right->irecv(&small, 1, 1));
  std::vector<uint8_t> data = pattern(200'000, 1);
  Request *sent = send(*ends.left, data, 1);
  EXPECT_EQ(outcome(*ends.right, wanted), kCollMismatch);
  (void)outcome(*ends.left, sent);
  EXPECT_EQ(right_->bounceStats(0).usedBytes, 0u);
  options.implicitConsume = 8;
  EXPECT_EQ(createDeviceTransport(below(), fake_.table(), options).status().code(),
            kCollInvalidCall);
}

TEST_P(UnpackTest, SmallMessagesMayGoTheHostsWay) {
  DeviceOptions options;
  options.unpackThreshold = 10'000;
  make(options);
  Ends ends = connect();
  HostKernel kernel(*ends.right);
  GpuBuffer to = allocate(*right_, 100'000);
  fake_.delayCopies(3);
  for (uint64_t bytes : {uint64_t(0), uint64_t(9'999), uint64_t(10'000)}) {
    std::vector<uint8_t> data = pattern(bytes, bytes);
    Segment into = to.segment(0, bytes);
    Request *wanted = post(ends.right->irecv(&into, 1, 1));
    Request *sent = send(*ends.left, data, 1);
    expectDone(*ends.right, wanted, bytes);
    expectDone(*ends.left, sent, bytes);
    uint64_t pages = kernel.unpack(to.data, bytes); // a slot, in either case
    EXPECT_EQ(pages > 0, bytes >= 10'000);
    ends.right->consumed();
    EXPECT_TRUE(std::equal(data.begin(), data.end(), to.data));
  }
  EXPECT_EQ(right_->stats().stagedReceives, 2u);
  EXPECT_EQ(right_->stats().unpackedMessages, 1u);
}

// Host memory that is mapped by CUDA and registered as GPU memory: the transport writes to it
// directly.
TEST_P(UnpackTest, MemoryThatTheTransportReachesNeedsNoPages) {
  make();
  Ends ends = connect();
  HostKernel kernel(*ends.right);
  fake_.setCurrent(0);
  void *pinned = nullptr;
  ASSERT_EQ(fake_.table().memHostAlloc(&pinned, 100'000, 0), rt::dl::kCudaSuccess);
  auto memory = right_->regMr(0, {pinned, 100'000, MemoryKind::Cuda, -1, 0});
  ASSERT_TRUE(memory.ok());
  for (uint64_t bytes : {uint64_t(50), uint64_t(90'000)}) {
    Segment into{static_cast<uint8_t *>(pinned) + 77, bytes, *memory};
    Request *wanted = post(ends.right->irecv(&into, 1, 1));
    std::vector<uint8_t> data = pattern(bytes, 4);
    Request *sent = send(*ends.left, data, 1);
    expectDone(*ends.right, wanted, bytes);
    expectDone(*ends.left, sent, bytes);
    EXPECT_EQ(kernel.unpack(pinned, 0), 0u);
    ends.right->consumed();
    EXPECT_TRUE(std::equal(data.begin(), data.end(), static_cast<uint8_t *>(pinned) + 77));
  }
  EXPECT_EQ(right_->stats().directReceives, 2u);
  EXPECT_EQ(right_->stats().unpackedMessages, 0u);
  right_->deregMr(*memory);
  EXPECT_EQ(fake_.table().memFreeHost(pinned), rt::dl::kCudaSuccess);
}

// A thread that simulates the kernel learns of a message only from the word that the caller passes
// on, like a kernel. TSan checks that this orders data, descriptors and count before it.
TEST_P(UnpackTest, WhatTestReportsIsVisibleToAnotherThread) {
  make();
  Ends ends = connect();
  HostKernel kernel(*ends.right);
  constexpr uint64_t kMessages = 200, kBytes = 30'000;
  GpuBuffer to = allocate(*right_, kBytes);
  std::atomic<uint64_t> tail{0}, head{0};
  std::thread gpu([&] {
    std::vector<uint8_t> got(kBytes);
    for (uint64_t i = 0; i < kMessages; ++i) {
      while (tail.load(std::memory_order_acquire) <= i)
        std::this_thread::yield();
      kernel.unpack(got.data(), kBytes);
      std::vector<uint8_t> wanted = pattern(i % 7 == 0 ? 0 : kBytes - i, i);
      EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), got.begin())) << i;
      head.store(i + 1, std::memory_order_release);
    }
  });
  std::thread sender([&] {
    for (uint64_t i = 0; i < kMessages; ++i) {
      std::vector<uint8_t> data = pattern(i % 7 == 0 ? 0 : kBytes - i, i);
      expectDone(*ends.left, send(*ends.left, data, 1), data.size());
    }
  });
  std::deque<Request *> pending;
  Segment into = to.segment();
  for (uint64_t posted = 0, done = 0, consumed = 0; consumed < kMessages;) {
    if (posted < kMessages) {
      Result<Request *> request = ends.right->irecv(&into, 1, 1);
      ASSERT_TRUE(request.ok());
      if (*request) {
        pending.push_back(*request);
        ++posted;
      }
    }
    if (!pending.empty()) {
      Result<Completion> completion = ends.right->test(pending.front());
      ASSERT_TRUE(completion.ok()) << completion.status().message();
      if (completion->done) {
        pending.pop_front();
        tail.store(++done, std::memory_order_release);
      }
    }
    for (; consumed < head.load(std::memory_order_acquire); ++consumed)
      ends.right->consumed();
    std::this_thread::yield();
  }
  gpu.join();
  sender.join();
  EXPECT_EQ(right_->bounceStats(0).usedBytes, 0u);
}

TEST_P(UnpackTest, ManyConnectionsShareOneSmallPool) {
  constexpr size_t kConnections = 6;
  DeviceOptions options;
  options.bounceBytes = kConnections * BouncePool::kGuaranteedBlocks * BouncePool::kBlockBytes;
  make(options);
  std::vector<Ends> all;
  for (size_t i = 0; i < kConnections; ++i)
    all.push_back(connect());
  EXPECT_EQ(right_->bounceStats(0).accounts, kConnections);
  void *bounce = static_cast<rt::UnpackHandle *>(all[0].right->deviceHandle()->handle)->bounce;
  GpuBuffer to = allocate(*right_, kConnections * kMaxDeviceMessageBytes);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kConnections; ++i) {
    EXPECT_EQ(static_cast<rt::UnpackHandle *>(all[i].right->deviceHandle()->handle)->bounce,
              bounce);
    threads.emplace_back([&, i] {
      HostKernel kernel(*all[i].right, options.bounceBytes);
      for (uint64_t round = 0; round < 8; ++round) {
        std::vector<uint8_t> data = pattern(round % 2 ? 4 << 20 : 3000 * (i + 1), round);
        Segment into = to.segment(i * kMaxDeviceMessageBytes, kMaxDeviceMessageBytes);
        // Sent early, so that every connection has more than one message in flight.
        Request *sent = send(*all[i].left, data, 1);
        expectDone(*all[i].right, post(all[i].right->irecv(&into, 1, 1)), data.size());
        expectDone(*all[i].left, sent, data.size());
        kernel.unpack(into.data, into.bytes);
        EXPECT_TRUE(std::equal(data.begin(), data.end(), static_cast<uint8_t *>(into.data)));
        all[i].right->consumed();
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  BounceStats stats = right_->bounceStats(0);
  EXPECT_EQ(stats.usedBytes, 0u);
  EXPECT_LE(stats.peakBytes, stats.limitBytes);
  EXPECT_LE(stats.pinnedBytes, stats.limitBytes);
}

TEST_P(UnpackTest, PagesRunOutAndComeBack) {
  DeviceOptions options;
  options.bounceBytes = 2 * BouncePool::kGuaranteedBlocks * BouncePool::kBlockBytes;
  make(options);
  Ends one = connect(), two = connect();
  HostKernel kernel(*two.right);
  GpuBuffer to = allocate(*right_, kMaxDeviceMessageBytes);
  Segment into = to.segment();
  Request *first = post(one.right->irecv(&into, 1, 1));
  Result<Request *> none = one.right->irecv(&into, 1, 1);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, nullptr);
  EXPECT_EQ(right_->bounceStats(0).refused, 1u);
  std::vector<uint8_t> data = pattern(kMaxDeviceMessageBytes, 6);
  exchange(two, kernel, data, to, kMaxDeviceMessageBytes); // is not held up
  Request *sent = send(*one.left, data, 1);
  expectDone(*one.right, first, data.size());
  expectDone(*one.left, sent, data.size());
  one.right->consumed();
  first = post(one.right->irecv(&into, 1, 1));
  one.right->close();
  EXPECT_EQ(outcome(*one.right, first), kCollAborted);
  EXPECT_EQ(right_->bounceStats(0).usedBytes, 0u);
}

TEST_P(UnpackTest, FullPoolRefusesAConnection) {
  DeviceOptions options;
  options.bounceBytes = BouncePool::kGuaranteedBlocks * BouncePool::kBlockBytes;
  make(options);
  Ends ends = connect();
  Result<std::unique_ptr<Listener>> listener = right_->listen(0);
  Result<std::unique_ptr<Connector>> connector = left_->connect(0, (*listener)->handle());
  ASSERT_TRUE(listener.ok() && connector.ok());
  std::unique_ptr<Connection> left;
  while (true) {
    if (!left) {
      Result<std::unique_ptr<Connection>> made = (*connector)->poll();
      ASSERT_TRUE(made.ok());
      left = made.take();
    }
    Result<std::unique_ptr<Connection>> accepted = (*listener)->accept();
    if (!accepted.ok()) {
      EXPECT_EQ(accepted.status().code(), kCollDevice);
      EXPECT_NE(accepted.status().message().find("COLL_NET_BOUNCE_BYTES"), std::string::npos);
      break;
    }
    ASSERT_FALSE(*accepted);
  }
  left.reset();
  HostKernel kernel(*ends.right);
  GpuBuffer to = allocate(*right_, 1000);
  std::vector<uint8_t> data = pattern(1000, 1);
  exchange(ends, kernel, data, to, 1000);
}

// CUDA frees memory only when running kernels have ended, so waiting there for a kernel that waits
// for the network would deadlock.
TEST_P(UnpackTest, NothingOfCudaIsCalledWhileMessagesMoveOrConnectionsEnd) {
  DeviceOptions options;
  options.send = SendPath::Pack;
  make(options);
  GpuBuffer from = allocate(*left_, 10'000), to = allocate(*right_, 10'000);
  int64_t allocated = 0;
  for (int round = 0; round < 3; ++round) {
    Ends ends = connect();
    HostKernel packer(*ends.left), unpacker(*ends.right);
    const int64_t before = fake_.calls("contextPush"); // precedes every call that does something
    for (int i = 0; i < 20; ++i) {
      Segment out = from.segment(), in = to.segment();
      Request *wanted = post(ends.right->irecv(&in, 1, 1));
      Request *sent = post(ends.left->isend(&out, 1, 1));
      packer.pack(from.data, from.bytes);
      expectDone(*ends.left, sent, from.bytes);
      expectDone(*ends.right, wanted, to.bytes);
      unpacker.unpack(to.data, to.bytes);
      ends.right->consumed();
    }
    ends.left.reset();
    ends.right.reset();
    EXPECT_EQ(fake_.calls("contextPush"), before);
    if (round == 0)
      allocated = fake_.calls("memHostAlloc");
    EXPECT_EQ(fake_.calls("memHostAlloc"), allocated); // the next ones use it again
  }
  for (const char *function : {"memFree", "memFreeHost", "memHostUnregister"})
    EXPECT_EQ(fake_.calls(function), 0) << function;
}

TEST_P(UnpackTest, OneSidedAccessOfGpuMemoryIsRefused) {
  make();
  Ends ends = connect();
  GpuBuffer gpu = allocate(*right_, 1000);
  Segment segment = gpu.segment();
  EXPECT_EQ(ends.right->iwrite(&segment, 1, {}, 0).status().code(), kCollUnsupported);
  EXPECT_EQ(ends.right->iread(&segment, 1, {}, 0).status().code(), kCollUnsupported);
  expectDone(*ends.right, post(ends.right->iflush(&segment, 1)), 1000);
}

INSTANTIATE_TEST_SUITE_P(Device, UnpackTest, testing::Values("loopback", "tcp", "bond"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace coll::net::test
