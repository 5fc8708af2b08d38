// Connections over several devices whose links fail.

#include "runtime/net/bond/bond.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/socket.h"
#include "runtime/net/tcp/tcp.h"
#include "test/conformance/transport/harness.h"
#include "test/net/flaky_transport.h"
#include "test/net/options.h"

#include <random>
#include <thread>

namespace coll::net::test {
namespace {

constexpr int kRails = 3;

std::unique_ptr<Transport> makeInner(bool isTcp) {
  if (!isTcp)
    return createLoopbackTransport().take();
  TcpOptions options;
  options.iface = "lo";
  options.dataStreams = 1;
  options.threads = 2;
  return createTcpTransport(options, testSecret()).take();
}

class BondTest : public testing::TestWithParam<bool> {
protected:
  BondTest() { open({}); }

  void open(BondOptions options) {
    options.rails = kRails;
    for (Side *side : {&left_, &right_}) {
      auto flaky = std::make_unique<FlakyTransport>(makeInner(GetParam()), kRails);
      side->flaky = flaky.get();
      side->bond = createBondTransport(std::move(flaky), options).take();
    }
  }
  Ends connect() { return net::test::connect(*left_.bond, *right_.bond); }

  std::vector<uint64_t> sentSoFar() const {
    std::vector<uint64_t> bytes;
    for (int device = 0; device < kRails; ++device)
      bytes.push_back(left_.flaky->sent(device));
    return bytes;
  }
  // Sends small messages one after the other from left to right; calls `before` before each.
  template <typename Before>
  static void expectStream(Ends &ends, size_t count, Before before) {
    std::vector<std::vector<uint8_t>> data, got;
    std::vector<Request *> sends, recvs;
    for (size_t i = 0; i < count; ++i) {
      data.push_back(pattern(i * 37 % 3000, i));
      got.emplace_back(data.back().size());
      recvs.push_back(recv(*ends.right, got.back(), 1));
    }
    for (size_t i = 0; i < count; ++i) {
      before(i);
      sends.push_back(send(*ends.left, data[i], 1));
    }
    for (size_t i = 0; i < count; ++i) {
      expectDone(*ends.left, sends[i], data[i].size());
      expectDone(*ends.right, recvs[i], data[i].size());
      EXPECT_EQ(got[i], data[i]) << i;
    }
  }

  // Moves messages until both sides have sent more than `before` over a device. This must be more
  // than the greeting of a link.
  ::testing::AssertionResult isUsedAgain(Ends &ends, int device, const uint64_t (&before)[2]) {
    for (int64_t end = nowUs() + kPatientUs; nowUs() < end; expectUsable(ends))
      if (left_.flaky->sent(device) > before[0] + 1000 &&
          right_.flaky->sent(device) > before[1] + 1000)
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << "device " << device << " stays unused";
  }
  // With these options links are retried at once.
  static BondOptions eager() {
    BondOptions options;
    options.retryUs = 500;
    options.maxRetryUs = 2000;
    options.maxRetries = 1 << 20;
    return options;
  }

  // Each side shares memory that the other one may access until unshareMemory().
  std::vector<RemoteKey> shareMemory() {
    std::vector<RemoteKey> keys;
    for (Side *side : {&left_, &right_}) {
      side->memory.assign(400'000, 0);
      side->registered = side->bond->regMr(0, {side->memory.data(), side->memory.size()}).take();
      keys.push_back(side->registered->remoteKey());
    }
    return keys;
  }
  void unshareMemory() {
    for (Side *side : {&left_, &right_})
      side->bond->deregMr(side->registered);
  }

  struct Side {
    FlakyTransport *flaky = nullptr;
    std::unique_ptr<Transport> bond;
    std::vector<uint8_t> memory;
    Memory *registered = nullptr;
  };
  Side left_, right_;
};

// Tests that take seconds run over one transport only.
class BondDeadlineTest : public BondTest {};

TEST_P(BondTest, TheDeviceHasTheNamesOfAllThatItJoins) {
  std::string names;
  for (const DeviceProperties &device : left_.flaky->devices())
    names += (names.empty() ? "" : "+") + device.name;
  EXPECT_EQ(left_.bond->devices().front().name, names);
}

TEST_P(BondTest, StripesLargeMessages) {
  Ends ends = connect();
  EXPECT_EQ(left_.bond->devices().size(), static_cast<size_t>(kRails));
  std::vector<uint8_t> data = pattern(3 << 20, 1), got(3 << 20);
  Request *wanted = recv(*ends.right, got, 1);
  expectDone(*ends.left, send(*ends.left, data, 1), data.size());
  expectDone(*ends.right, wanted, data.size());
  EXPECT_EQ(got, data);
  for (int device = 0; device < kRails; ++device)
    EXPECT_GE(left_.flaky->sent(device), data.size() / kRails - 8192) << device;
}

TEST_P(BondTest, SmallMessagesInAStreamUseAllLinks) {
  Ends ends = connect();
  const std::vector<uint64_t> before = sentSoFar();
  auto areAllUsed = [&] {
    for (size_t device = 0; device < kRails; ++device)
      if (left_.flaky->sent(static_cast<int>(device)) < before[device] + 1000)
        return false;
    return true;
  };
  // While one link keeps up, it is used alone.
  for (int64_t end = nowUs() + kPatientUs; !areAllUsed() && nowUs() < end;)
    expectStream(ends, 120, [](size_t) {});
  EXPECT_TRUE(areAllUsed());
}

TEST_P(BondTest, OneSmallMessageAtATimeStaysOnTheFirstLink) {
  Ends ends = connect();
  const std::vector<uint64_t> before = sentSoFar();
  std::vector<uint8_t> data(100), got(100);
  for (int i = 0; i < 200; ++i) {
    Connection &from = i % 2 ? *ends.left : *ends.right, &to = i % 2 ? *ends.right : *ends.left;
    Request *wanted = recv(to, got, 1);
    expectDone(from, send(from, data, 1), data.size());
    expectDone(to, wanted, data.size());
  }
  EXPECT_GT(left_.flaky->sent(0), before[0] + 10'000);
  for (size_t device = 1; device < kRails; ++device)
    EXPECT_EQ(left_.flaky->sent(static_cast<int>(device)), before[device]) << device;
}

// A message that was sent and never arrives holds up later messages over the other links.
TEST_P(BondTest, SmallMessagesThatALinkLosesAreSentAgain) {
  for (int device = 0; device < kRails; ++device) {
    open({});
    Ends ends = connect();
    expectStream(ends, 100, [&](size_t i) {
      if (i == 30)
        left_.flaky->swallow(device);
      if (i == 80)
        (device % 2 ? left_ : right_).flaky->cut(device);
    });
  }
}

TEST_P(BondTest, WhatTheReceiverHasIsSentEvenIfItClosesAtOnce) {
  std::vector<uint8_t> data = pattern(1 << 20, 1), got(1 << 20);
  for (int round = 0; round < 20; ++round) {
    Ends ends = connect();
    Request *wanted = recv(*ends.right, got, 1), *sent = send(*ends.left, data, 1);
    for (bool done = false; !done;) {
      Result<Completion> came = ends.right->test(wanted);
      ASSERT_TRUE(came.ok()) << came.status().toString();
      done = came->done;
      if (round % 2 && !done) {
        ASSERT_TRUE(ends.left->test(sent).ok());
      }
    }
    ends.right->close();
    expectDone(*ends.left, sent, data.size());
  }
}

TEST_P(BondTest, SettingUpEndsByTheDeadline) {
  BondOptions options;
  options.timeoutUs = 200'000;
  std::unique_ptr<Transport> hasty = createBondTransport(makeInner(GetParam()), options).take();
  std::unique_ptr<Listener> silent = left_.bond->listen(0).take(); // it never accepts
  std::unique_ptr<Connector> connector = hasty->connect(0, silent->handle()).take();
  const int64_t begin = nowUs();
  Status outcome;
  while (outcome.ok() && nowUs() < begin + 20'000'000)
    outcome = connector->poll().status();
  EXPECT_EQ(outcome.code(), kCollTimeout) << outcome.toString();
}

// Sends and receives with two tags, in order, and reads and writes the peer's memory, until `count`
// of each are done.
void work(Connection &mine, const RemoteKey &peerMemory, uint64_t seed, uint64_t peerSeed,
          int count) {
  std::mt19937_64 random(seed);
  auto sizeOf = [](uint64_t of, int i) {
    std::mt19937_64 sizes(of * 1000 + static_cast<uint64_t>(i));
    uint64_t kind = sizes() % 4, size = sizes();
    return kind == 0   ? size % 100
           : kind == 1 ? size % 9000
           : kind == 2 ? size % 200'000
                       : size % 900'000;
  };
  constexpr int kDepth = 6;
  std::vector<std::vector<uint8_t>> data(kDepth), got(kDepth);
  std::vector<Request *> sends(kDepth), recvs(kDepth);
  for (int begin = 0; begin < count; begin += kDepth) {
    for (int i = 0; i < kDepth; ++i) {
      auto place = static_cast<size_t>(i);
      data[place] = pattern(sizeOf(seed, begin + i), seed + static_cast<uint64_t>(begin + i));
      got[place].assign(sizeOf(peerSeed, begin + i), 0);
      uint64_t tag = static_cast<uint64_t>(i) % 2;
      recvs[place] = recv(mine, got[place], tag);
      sends[place] = send(mine, data[place], tag);
    }
    std::vector<uint8_t> written = pattern(300'000, random()), read(written.size());
    Segment from = segment(written), to = segment(read);
    Result<Request *> write = mine.iwrite(&from, 1, peerMemory, 1000);
    ASSERT_TRUE(write.ok() && *write) << write.status().toString();
    expectDone(mine, *write, written.size());
    Result<Request *> reading = mine.iread(&to, 1, peerMemory, 1000);
    ASSERT_TRUE(reading.ok() && *reading) << reading.status().toString();
    expectDone(mine, *reading, read.size());
    ASSERT_TRUE(read == written);
    // Reads of rows are not divided over links.
    constexpr size_t kRow = 1000, kApart = 1100, kRows = 272;
    Segment rows = {read.data(), kRow * kRows, nullptr};
    reading = mine.iread(&rows, 1, peerMemory, {1000, kRow, kApart});
    ASSERT_TRUE(reading.ok() && *reading) << reading.status().toString();
    expectDone(mine, *reading, kRow * kRows);
    for (size_t row = 0; row < kRows; ++row)
      ASSERT_TRUE(std::equal(written.begin() + static_cast<ptrdiff_t>(row * kApart),
                             written.begin() + static_cast<ptrdiff_t>(row * kApart + kRow),
                             read.begin() + static_cast<ptrdiff_t>(row * kRow)));
    for (int i = 0; i < kDepth; ++i) {
      auto place = static_cast<size_t>(i);
      expectDone(mine, recvs[place], got[place].size());
      expectDone(mine, sends[place], data[place].size());
      ASSERT_TRUE(got[place] ==
                  pattern(got[place].size(), peerSeed + static_cast<uint64_t>(begin + i)))
          << begin + i;
    }
  }
}

TEST_P(BondTest, NothingIsLostWhileLinksFail) {
  constexpr int kRounds = 6, kMessages = 60;
  for (uint64_t round = 0; round < kRounds; ++round) {
    std::mt19937_64 random(round);
    Ends ends = connect();
    const std::vector<RemoteKey> keys = shareMemory();
    // Cuts all links but one, one after the other; either side may notice it first.
    std::thread saboteur([&] {
      int first = static_cast<int>(random() % kRails);
      for (int i = 0; i < kRails - 1; ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
        (random() % 2 ? left_ : right_).flaky->cut((first + i) % kRails);
      }
    });
    std::thread other([&] { work(*ends.right, keys[0], 77 + round, 33 + round, kMessages); });
    work(*ends.left, keys[1], 33 + round, 77 + round, kMessages);
    other.join();
    saboteur.join();
    expectUsable(ends);
    ends = Ends();
    unshareMemory();
    if (HasFailure())
      return;
  }
}

// Every link fails several times, at either end, while data moves over the others.
TEST_P(BondTest, NothingIsLostWhileLinksFailAndComeBack) {
  constexpr int kCuts = 4 * kRails;
  open(eager());
  Ends ends = connect();
  const std::vector<RemoteKey> keys = shareMemory();
  std::atomic<bool> isOver{false};
  std::thread saboteur([&] {
    std::mt19937_64 random(7);
    int64_t deadlineUs = nowUs() + kPatientUs;
    for (int i = 0; i < kCuts; ++i) {
      int device = i % kRails;
      const uint64_t before[2] = {left_.flaky->sent(device), right_.flaky->sent(device)};
      (random() % 2 ? left_ : right_).flaky->cut(device);
      // The next link may fail before this one is back, so at times two are down.
      auto isBack = [&](int which, uint64_t more) {
        return left_.flaky->sent(which) > before[0] + more &&
               right_.flaky->sent(which) > before[1] + more;
      };
      while (!isBack(device, 300'000) && nowUs() < deadlineUs)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      EXPECT_LT(nowUs(), deadlineUs) << "cut " << i;
    }
    isOver = true;
  });
  for (uint64_t round = 0; !isOver && !HasFailure(); ++round) {
    std::thread other([&] { work(*ends.right, keys[0], 77 + round, 33 + round, 24); });
    work(*ends.left, keys[1], 33 + round, 77 + round, 24);
    other.join();
  }
  saboteur.join();
  expectUsable(ends);
  ends = Ends();
  unshareMemory();
}

TEST_P(BondTest, ALinkThatFailedIsUsedAgain) {
  open(eager());
  Ends ends = connect();
  for (int device = 0; device < kRails; ++device) {
    left_.flaky->cut(device);
    expectUsable(ends);
    EXPECT_TRUE(isUsedAgain(ends, device, {left_.flaky->sent(device), right_.flaky->sent(device)}));
  }
}

// A message that waits for its receive while its link fails and comes back.
TEST_P(BondTest, WhatWasAnnouncedOverAnEarlierLinkArrives) {
  open(eager());
  Ends ends = connect();
  std::vector<uint8_t> data = pattern(3 << 20, 1), got(3 << 20);
  Request *sent = send(*ends.left, data, 9);
  expectUsable(ends); // so it has been announced
  for (int device = 0; device < kRails; ++device) {
    right_.flaky->cut(device);
    expectUsable(ends);
    EXPECT_TRUE(isUsedAgain(ends, device, {left_.flaky->sent(device), right_.flaky->sent(device)}));
  }
  expectDone(*ends.right, recv(*ends.right, got, 9), data.size());
  expectDone(*ends.left, sent, data.size());
  EXPECT_EQ(got, data);
}

// A message that is announced again over another link, because the peer has lost the first
// announcement.
TEST_P(BondTest, WhatWasAnnouncedOverALinkThatWasOutArrives) {
  for (int round = 0; round < 4; ++round) {
    open(eager());
    Ends ends = connect();
    std::vector<uint8_t> data = pattern(3 << 20, 1), got(3 << 20);
    right_.flaky->cut(0); // over which frames go
    Request *sent = send(*ends.left, data, 9);
    EXPECT_TRUE(isUsedAgain(ends, 0, {left_.flaky->sent(0), right_.flaky->sent(0)}));
    expectDone(*ends.right, recv(*ends.right, got, 9), data.size());
    expectDone(*ends.left, sent, data.size());
    EXPECT_EQ(got, data);
  }
}

TEST_P(BondTest, TriesAreBounded) {
  BondOptions options = eager();
  options.maxRetries = 3;
  open(options);
  Ends ends = connect();
  left_.flaky->isolate(1); // the connecting side
  left_.flaky->cut(1);
  // Both ends learn of the end of the link and of each retry.
  for (int i = 0; i < 40; ++i) {
    expectUsable(ends);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  left_.flaky->isolate(-1);
  const uint64_t sent = right_.flaky->sent(1);
  for (int i = 0; i < 20; ++i) {
    expectUsable(ends);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(right_.flaky->sent(1), sent);
}

// A link that was up only for moments does not count as repaired.
TEST_P(BondTest, ALinkThatFailsAgainAndAgainIsGivenUp) {
  BondOptions options = eager();
  options.maxRetries = 3;
  open(options);
  Ends ends = connect();
  auto use = [&](int times, bool cuts) {
    for (int i = 0; i < times; ++i) {
      if (cuts)
        left_.flaky->cut(1);
      expectUsable(ends);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  };
  use(40, /*cuts=*/true);
  const uint64_t sent = right_.flaky->sent(1);
  use(20, /*cuts=*/false);
  EXPECT_EQ(right_.flaky->sent(1), sent);
}

// A completed message has only left the device, which loses it when the link fails.
TEST_P(BondTest, WhatWasDoneBeforeCloseArrivesEvenIfALinkFails) {
  constexpr size_t kMessages = 20;
  for (bool isCutBefore : {false, true}) {
    open({});
    Ends ends = connect();
    std::vector<std::vector<uint8_t>> data, got;
    std::vector<Request *> wanted;
    for (size_t i = 0; i < kMessages; ++i) {
      data.push_back(pattern(50 * i, i));
      got.emplace_back(data.back().size());
      wanted.push_back(recv(*ends.right, got[i], 1));
    }
    left_.flaky->swallow(0);
    for (std::vector<uint8_t> &message : data)
      expectDone(*ends.left, send(*ends.left, message, 1), message.size());
    if (isCutBefore)
      left_.flaky->cut(0);
    ends.left.reset();
    if (!isCutBefore)
      left_.flaky->cut(0);
    for (size_t i = 0; i < kMessages; ++i) {
      expectDone(*ends.right, wanted[i], data[i].size());
      EXPECT_EQ(got[i], data[i]);
    }
    Result<Request *> more = tryRecv(*ends.right, got[0], 1);
    EXPECT_EQ(outcome(*ends.right, more), kCollPeer);
  }
}

// The peer that should receive the remaining data has ended.
TEST_P(BondDeadlineTest, ClosingEndsWithoutThePeer) {
  Ends ends = connect();
  std::vector<uint8_t> data(100);
  for (int device = 0; device < kRails; ++device)
    left_.flaky->swallow(device);
  expectDone(*ends.left, send(*ends.left, data, 1), data.size());
  const int64_t begin = nowUs();
  ends.left.reset();
  EXPECT_LT(nowUs() - begin, 1'900'000); // what is owed lingers for 2 s, elsewhere
  left_.bond.reset();
  EXPECT_LT(nowUs() - begin, 10'000'000);
}

TEST_P(BondTest, TheLastLinkEndsTheConnection) {
  Ends ends = connect();
  std::vector<uint8_t> large = pattern(1 << 20, 1), got(1 << 20), other(100);
  Request *sent = send(*ends.left, large, 1), *wanted = recv(*ends.left, got, 2),
          *theirs = recv(*ends.right, other, 3);
  for (int device = 0; device < kRails; ++device)
    left_.flaky->cut(device);
  EXPECT_EQ(outcome(*ends.left, sent), kCollLink);
  EXPECT_EQ(outcome(*ends.left, wanted), kCollLink);
  EXPECT_NE(outcome(*ends.right, theirs), kCollOk);
  EXPECT_FALSE(ends.left->isend(nullptr, 0, 0).ok());
  Ends again = connect();
  expectUsable(again);
}

// Data that was sent arrives although the application does not call test().
TEST_P(BondTest, AFailedLinkIsMadeUpForWithoutTheApplication) {
  Ends ends = connect();
  std::vector<uint8_t> data = pattern(1 << 20, 1), got(1 << 20);
  Request *wanted = recv(*ends.right, got, 1), *sent = send(*ends.left, data, 1);
  left_.flaky->cut(1);
  expectDone(*ends.right, wanted, data.size()); // only this side looks
  EXPECT_EQ(got, data);
  expectDone(*ends.left, sent, data.size());
}

TEST_P(BondTest, ALinkThatCannotBeMadeIsLeftOut) {
  left_.flaky->isolate(1);
  Ends ends = connect();
  expectUsable(ends);
  EXPECT_EQ(left_.flaky->sent(1), 0u);
  EXPECT_GT(left_.flaky->sent(2), 100'000u);
  // Now it can be used again.
  left_.flaky->isolate(-1);
  EXPECT_TRUE(isUsedAgain(ends, 1, {0, 0}));
}

TEST_P(BondTest, SidesWithDifferentNumbersOfDevicesUseTheFewer) {
  std::unique_ptr<Transport> one = createBondTransport(makeInner(GetParam()), BondOptions()).take();
  Ends ends = net::test::connect(*one, *right_.bond);
  expectUsable(ends);
  ends = net::test::connect(*right_.bond, *one);
  expectUsable(ends);
}

TEST_P(BondTest, BothSidesHaveToJoinDevices) {
  std::unique_ptr<Transport> plain = makeInner(GetParam());
  std::unique_ptr<Listener> bond = left_.bond->listen(0).take(), other = plain->listen(0).take();
  EXPECT_EQ(plain->connect(0, bond->handle()).status().code(), kCollInvalidCall);
  Status status = left_.bond->connect(0, other->handle()).status();
  EXPECT_EQ(status.code(), kCollInvalidCall);
  EXPECT_NE(status.message().find("COLL_NET_RAILS"), std::string::npos) << status.message();
  BondOptions options;
  options.rails = 9;
  EXPECT_EQ(createBondTransport(makeInner(GetParam()), options).status().code(), kCollInvalidCall);
}

INSTANTIATE_TEST_SUITE_P(Over, BondDeadlineTest, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Over, BondTest, testing::Bool(), [](const auto &info) {
  return std::string(info.param ? "tcp" : "loopback");
});

} // namespace
} // namespace coll::net::test
