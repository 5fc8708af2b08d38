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
  BondTest() {
    for (Side *side : {&left_, &right_}) {
      auto flaky = std::make_unique<FlakyTransport>(makeInner(GetParam()), kRails);
      side->flaky = flaky.get();
      BondOptions options;
      options.rails = kRails;
      side->bond = createBondTransport(std::move(flaky), options).take();
    }
  }
  Ends connect() { return net::test::connect(*left_.bond, *right_.bond); }

  struct Side {
    FlakyTransport *flaky = nullptr;
    std::unique_ptr<Transport> bond;
  };
  Side left_, right_;
};

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
  std::unique_ptr<Listener> silent = left_.bond->listen(0).take(); // nobody accepts
  std::unique_ptr<Connector> connector = hasty->connect(0, silent->handle()).take();
  const int64_t begin = nowUs();
  Status outcome;
  while (outcome.ok() && nowUs() < begin + 20'000'000)
    outcome = connector->poll().status();
  EXPECT_EQ(outcome.code(), kCollTimeout) << outcome.toString();
}

// Sends and receives with two tags, in their order, and reads and writes the peer's memory,
// until it has done `count` of each.
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
    std::vector<uint8_t> memory[2];
    RemoteKey keys[2];
    Memory *registered[2];
    for (int side : {0, 1}) {
      memory[side].resize(400'000);
      registered[side] =
          (side ? right_ : left_).bond->regMr(0, {memory[side].data(), memory[side].size()}).take();
      keys[side] = registered[side]->remoteKey();
    }
    // One link after the other, but one, noticed by either side.
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
    left_.bond->deregMr(registered[0]);
    right_.bond->deregMr(registered[1]);
    if (HasFailure())
      return;
  }
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

// Nobody has to test for what was sent to arrive.
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

INSTANTIATE_TEST_SUITE_P(Over, BondTest, testing::Bool(), [](const auto &info) {
  return std::string(info.param ? "tcp" : "loopback");
});

} // namespace
} // namespace coll::net::test
