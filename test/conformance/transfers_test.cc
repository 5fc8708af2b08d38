// send and recv, and the collectives without data.

#include "test/conformance/harness.h"

#include <atomic>

namespace coll::rt::test {
namespace {

Call transfer(OpKind kind, void *data, int64_t count, int peer, int64_t tag) {
  Call call = makeCall(kind, kCollI32, count, nullptr, nullptr);
  (kind == OpKind::Send ? const_cast<void *&>(call.src) : call.dst) = data;
  call.peer = peer;
  call.tag = tag;
  return call;
}

Elements filled(int64_t count, int seed) {
  Elements elements(kCollI32, count);
  for (int64_t i = 0; i < count; ++i)
    elements.set(i, static_cast<double>(i * 7 + seed));
  return elements;
}

TEST_P(Transfers, PingPongOfAllSizes) {
  COLL_NEEDS_RANKS(2);
  runJob(GetParam(), oneGroup(2), [](Member &m) {
    for (int64_t count : counts()) {
      Elements out = filled(count, 5), in(kCollI32, count);
      Call send = transfer(OpKind::Send, out.data(), count, 1 - m.position, 0);
      Call recv = transfer(OpKind::Recv, in.data(), count, 1 - m.position, 0);
      Status first = m.call(m.position == 0 ? send : recv);
      ASSERT_TRUE(first.ok()) << first.toString();
      Status second = m.call(m.position == 0 ? recv : send);
      ASSERT_TRUE(second.ok()) << second.toString();
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(in.get(i), i * 7 + 5);
    }
  });
}

TEST_P(Transfers, SameTagMatchesInProgramOrder) {
  COLL_NEEDS_RANKS(2);
  runJob(GetParam(), oneGroup(2), [](Member &m) {
    for (int round = 0; round < 100; ++round) {
      Elements data = filled(1, round * 1000);
      bool sends = m.position == 0;
      ASSERT_TRUE(
          m.call(transfer(sends ? OpKind::Send : OpKind::Recv, data.data(), 1, 1 - m.position, 4))
              .ok());
      ASSERT_EQ(data.get(0), round * 1000);
    }
  });
}

TEST_P(Transfers, TagsMatchOutOfOrder) {
  COLL_NEEDS_RANKS(2);
  runJob(GetParam(), oneGroup(2), [](Member &m) {
    Elements first = filled(10, 1), second = filled(10, 2);
    bool sends = m.position == 0;
    OpKind kind = sends ? OpKind::Send : OpKind::Recv;
    // The receiver asks for the second tag first.
    Elements &early = sends ? first : second, &late = sends ? second : first;
    Result<Request *> one =
        m.start(transfer(kind, early.data(), 10, 1 - m.position, sends ? 1 : 2));
    Result<Request *> two = m.start(transfer(kind, late.data(), 10, 1 - m.position, sends ? 2 : 1));
    ASSERT_TRUE(one.ok() && two.ok());
    EXPECT_TRUE(m.wait(*one).ok());
    EXPECT_TRUE(m.wait(*two).ok());
    EXPECT_EQ(first.get(3), 22);
    EXPECT_EQ(second.get(3), 23);
  });
}

TEST_P(Transfers, RingShift) {
  COLL_NEEDS_RANKS(5);
  runJob(GetParam(), {5, {{2, 4, 0, 3, 1}}}, [](Member &m) {
    Elements out = filled(1000, m.rank), in(kCollI32, 1000);
    Result<Request *> sent =
        m.start(transfer(OpKind::Send, out.data(), 1000, (m.position + 1) % m.n, 0));
    ASSERT_TRUE(sent.ok());
    int left = (m.position + m.n - 1) % m.n;
    ASSERT_TRUE(m.call(transfer(OpKind::Recv, in.data(), 1000, left, 0)).ok());
    ASSERT_TRUE(m.wait(*sent).ok());
    EXPECT_EQ(in.get(9), 63 + m.rankAt(left));
  });
}

TEST_P(Transfers, ToItself) {
  runJob(GetParam(), oneGroup(1), [](Member &m) {
    Elements out = filled(8, 3), in(kCollI32, 8);
    Result<Request *> received = m.start(transfer(OpKind::Recv, in.data(), 8, 0, 0));
    ASSERT_TRUE(received.ok());
    ASSERT_TRUE(m.call(transfer(OpKind::Send, out.data(), 8, 0, 0)).ok());
    ASSERT_TRUE(m.wait(*received).ok());
    EXPECT_EQ(in.get(7), 52);
  });
}

TEST_P(Transfers, BarrierHoldsEveryoneBack) {
  for (const Layout &layout : layouts(mostRanks(GetParam()))) {
    std::vector<std::atomic<int>> arrived(layout.groups.size());
    runJob(GetParam(), layout, [&](Member &m) {
      size_t group = 0;
      while (layout.groups[group] != m.group.ranks())
        ++group;
      for (int round = 1; round <= 50; ++round) {
        arrived[group].fetch_add(1);
        ASSERT_TRUE(m.call(makeCall(OpKind::Barrier, kCollF32, 0, nullptr, nullptr)).ok());
        ASSERT_GE(arrived[group].load(), round * m.n);
      }
      ASSERT_TRUE(m.call(makeCall(OpKind::Init, kCollF32, 0, nullptr, nullptr)).ok());
    });
  }
}

} // namespace
} // namespace coll::rt::test
