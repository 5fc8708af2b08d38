#include "test/conformance/transport/harness.h"
#include "test/support/sanitizers.h"

#include <thread>

namespace coll::net::test {
namespace {

TEST_P(TransportTest, DeviceIsDescribed) {
  ASSERT_FALSE(left_->devices().empty());
  const DeviceProperties &device = left_->devices()[0];
  EXPECT_FALSE(device.name.empty());
  EXPECT_GE(device.maxSegments, 1);
  EXPECT_TRUE(device.memoryKinds & static_cast<uint32_t>(MemoryKind::Host));
}

TEST_P(TransportTest, MessagesOfOneTagKeepTheirOrder) {
  Ends ends = connect();
  constexpr int kMessages = 120;
  auto sizeOf = [](int i) { return static_cast<size_t>(i % 5 == 0 ? 0 : i * 977 % 70'000); };
  std::thread sender([&] {
    std::vector<std::vector<uint8_t>> data;
    std::vector<Request *> requests;
    for (int i = 0; i < kMessages; ++i) {
      data.push_back(pattern(sizeOf(i), static_cast<uint64_t>(i)));
      requests.push_back(send(*ends.left, data.back(), 5));
    }
    for (int i = 0; i < kMessages; ++i)
      expectDone(*ends.left, requests[static_cast<size_t>(i)], sizeOf(i));
  });
  for (int i = 0; i < kMessages; ++i) {
    std::vector<uint8_t> got(70'000);
    expectDone(*ends.right, recv(*ends.right, got, 5), sizeOf(i));
    got.resize(sizeOf(i));
    EXPECT_EQ(got, pattern(sizeOf(i), static_cast<uint64_t>(i))) << i;
  }
  sender.join();
}

TEST_P(TransportTest, TagsMatchInAnyOrder) {
  Ends ends = connect();
  const size_t sizes[] = {200'000, 100, 1'000'000, 0};
  std::vector<std::vector<uint8_t>> data;
  std::vector<Request *> sends;
  for (size_t tag = 0; tag < 4; ++tag)
    data.push_back(pattern(sizes[tag], tag));
  for (size_t tag = 0; tag < 4; ++tag)
    sends.push_back(send(*ends.left, data[tag], tag));
  for (size_t tag = 4; tag-- > 0;) {
    std::vector<uint8_t> got(sizes[tag]);
    expectDone(*ends.right, recv(*ends.right, got, tag), sizes[tag]);
    EXPECT_EQ(got, data[tag]);
  }
  for (size_t tag = 0; tag < 4; ++tag)
    expectDone(*ends.left, sends[tag], sizes[tag]);
}

TEST_P(TransportTest, SeveralBuffersAreOneMessage) {
  Ends ends = connect();
  for (size_t scale : {size_t(1), size_t(20'001)}) {
    std::vector<uint8_t> data = pattern(17 * scale, scale), got(17 * scale);
    auto cut = [](std::vector<uint8_t> &bytes, std::vector<size_t> sizes) {
      std::vector<Segment> segments;
      uint8_t *at = bytes.data();
      for (size_t size : sizes) {
        segments.push_back({at, size, nullptr});
        at += size;
      }
      return segments;
    };
    std::vector<Segment> from = cut(data, {3 * scale, 0, 7 * scale, 7 * scale});
    std::vector<Segment> to = cut(got, {scale, 11 * scale, 0, 2 * scale, 3 * scale});
    Result<Request *> wanted = ends.right->irecv(to.data(), 5, 1);
    Result<Request *> given = ends.left->isend(from.data(), 4, 1);
    ASSERT_TRUE(wanted.ok() && given.ok());
    expectDone(*ends.left, *given, 17 * scale);
    expectDone(*ends.right, *wanted, 17 * scale);
    EXPECT_EQ(got, data);
  }
}

TEST_P(TransportTest, LargeTotalsBothWaysAtOnce) {
  Ends ends = connect();
  constexpr size_t kBytes = (4 << 20) + 3;
  constexpr int kRounds = 8;
  auto work = [&](Connection &mine, uint64_t seed, uint64_t peerSeed) {
    std::vector<uint8_t> data = pattern(kBytes, seed), wanted = pattern(kBytes, peerSeed);
    std::vector<std::vector<uint8_t>> got(kRounds, std::vector<uint8_t>(kBytes));
    std::vector<Request *> sends, recvs;
    for (int i = 0; i < kRounds; ++i) {
      recvs.push_back(recv(mine, got[static_cast<size_t>(i)], 3));
      sends.push_back(send(mine, data, 3));
    }
    for (int i = 0; i < kRounds; ++i) {
      expectDone(mine, sends[static_cast<size_t>(i)], kBytes);
      expectDone(mine, recvs[static_cast<size_t>(i)], kBytes);
      EXPECT_TRUE(got[static_cast<size_t>(i)] == wanted);
    }
  };
  std::thread other([&] { work(*ends.right, 2, 1); });
  work(*ends.left, 1, 2);
  other.join();
}

// Bytes must not be counted in 32 bits anywhere.
TEST_P(TransportTest, TotalsBeyondFourGiB) {
  Ends ends = connect();
  constexpr size_t kBytes = 64 << 20;
  constexpr int kMessages = coll::test::kFindsRaces ? 4 : 66;
  std::vector<uint8_t> data(kBytes, 7), got(kBytes);
  uint64_t total = 0;
  for (int i = 0; i < kMessages; ++i) {
    data[0] = data[kBytes - 1] = static_cast<uint8_t>(i);
    Request *wanted = recv(*ends.right, got, 1);
    Request *sent = send(*ends.left, data, 1);
    expectDone(*ends.right, wanted, kBytes);
    expectDone(*ends.left, sent, kBytes);
    ASSERT_EQ(got[0], static_cast<uint8_t>(i));
    ASSERT_EQ(got[kBytes - 1], static_cast<uint8_t>(i));
    total += kBytes;
  }
  EXPECT_TRUE(coll::test::kFindsRaces || total > uint64_t(1) << 32);
  EXPECT_TRUE(got == data);
}

TEST_P(TransportTest, ManySmallMessagesBeforeTheirReceives) {
  Ends ends = connect();
  constexpr int kMessages = 1500;
  std::vector<uint8_t> data = pattern(1000, 4);
  std::thread sender([&] {
    for (int i = 0; i < kMessages; ++i)
      expectDone(*ends.left, send(*ends.left, data, 1), data.size());
  });
  // Messages that are not received must not delay the other direction.
  std::vector<uint8_t> back = pattern(100'000, 5), got(100'000), small(1000);
  Request *wanted = recv(*ends.left, got, 2);
  expectDone(*ends.right, send(*ends.right, back, 2), back.size());
  expectDone(*ends.left, wanted, back.size());
  EXPECT_EQ(got, back);
  for (int i = 0; i < kMessages; ++i)
    expectDone(*ends.right, recv(*ends.right, small, 1), small.size());
  sender.join();
}

TEST_P(TransportTest, SeveralThreadsShareAConnection) {
  Ends ends = connect();
  std::vector<std::thread> threads;
  for (uint64_t tag = 0; tag < 3; ++tag)
    for (bool sender : {true, false})
      threads.emplace_back([&, tag, sender] {
        for (uint64_t i = 0; i < 40; ++i) {
          std::vector<uint8_t> data = pattern(i * 2000, tag * 100 + i), got(data.size());
          if (sender) {
            expectDone(*ends.left, send(*ends.left, data, tag), data.size());
          } else {
            expectDone(*ends.right, recv(*ends.right, got, tag), data.size());
            EXPECT_EQ(got, data);
          }
        }
      });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_P(TransportTest, ManyConnections) {
  std::vector<Ends> all;
  for (int i = 0; i < 12; ++i)
    all.push_back(connect());
  std::vector<uint8_t> data = pattern(50'000, 6);
  std::vector<std::vector<uint8_t>> got(all.size(), std::vector<uint8_t>(data.size()));
  std::vector<Request *> sends, recvs;
  for (size_t i = 0; i < all.size(); ++i) {
    recvs.push_back(recv(*all[i].right, got[i], i));
    sends.push_back(send(*all[i].left, data, i));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    expectDone(*all[i].left, sends[i], data.size());
    expectDone(*all[i].right, recvs[i], data.size());
    EXPECT_EQ(got[i], data);
  }
}

TEST_P(TransportTest, BackPressureIsANullRequest) {
  Ends ends = connect();
  std::vector<uint8_t> data = pattern(40'000, 7), got(40'000);
  Segment one = segment(data);
  std::vector<Request *> sends;
  while (true) {
    Result<Request *> request = ends.left->isend(&one, 1, 1);
    ASSERT_TRUE(request.ok());
    if (!*request)
      break;
    sends.push_back(*request);
    ASSERT_LE(sends.size(), static_cast<size_t>(left_->devices()[0].maxRequests));
  }
  for (size_t i = 0; i < sends.size(); ++i) {
    expectDone(*ends.right, recv(*ends.right, got, 1), got.size());
    ASSERT_EQ(got, data);
  }
  for (Request *request : sends)
    expectDone(*ends.left, request, data.size());
  expectUsable(ends);
}

TEST_P(TransportTest, TruncationFailsTheRequestAlone) {
  Ends ends = connect();
  for (size_t bytes : {size_t(100), size_t(200'000)})
    for (bool early : {true, false}) {
      std::vector<uint8_t> data = pattern(bytes, 8), guarded(bytes, 0xee);
      Segment half{guarded.data(), bytes / 2, nullptr};
      Request *sent = early ? nullptr : send(*ends.left, data, 1);
      Result<Request *> wanted = ends.right->irecv(&half, 1, 1);
      ASSERT_TRUE(wanted.ok());
      if (early)
        sent = send(*ends.left, data, 1);
      EXPECT_EQ(outcome(*ends.right, *wanted), kCollMismatch);
      CollCode code = outcome(*ends.left, sent);
      EXPECT_TRUE(code == kCollOk || code == kCollMismatch) << code;
      for (size_t i = bytes / 2; i < bytes; ++i)
        ASSERT_EQ(guarded[i], 0xee) << i;
    }
  expectUsable(ends);
}

TEST_P(TransportTest, MisuseIsRefused) {
  Ends ends = connect();
  std::vector<uint8_t> data(8);
  std::vector<Segment> segments(1000, segment(data));
  Segment null{nullptr, 8, nullptr};
  auto code = [](const auto &result) { return result.status().code(); };
  EXPECT_EQ(code(ends.left->isend(segments.data(), -1, 0)), kCollInvalidCall);
  EXPECT_EQ(code(ends.left->isend(segments.data(), 1000, 0)), kCollInvalidCall);
  EXPECT_EQ(code(ends.left->irecv(&null, 1, 0)), kCollInvalidCall);
  EXPECT_EQ(code(left_->listen(-1)), kCollInvalidCall);
  EXPECT_EQ(code(left_->listen(1000)), kCollInvalidCall);
  Handle nonsense;
  nonsense.bytes.fill(0xab);
  EXPECT_EQ(code(left_->connect(0, nonsense)), kCollInvalidCall);
  MemoryRegion gpu{data.data(), 8, MemoryKind::Cuda, -1, 0};
  if (!(left_->devices()[0].memoryKinds & static_cast<uint32_t>(MemoryKind::Cuda))) {
    EXPECT_EQ(code(left_->regMr(0, gpu)), kCollUnsupported);
  }
  expectUsable(ends);
}

} // namespace
} // namespace coll::net::test
