// A failure ends the operation on every rank, with an error that names it, and without a hang.

#include "test/conformance/harness.h"

namespace coll::rt::test {
namespace {

// Runs the body and collects what it returns on each rank.
std::vector<Status> outcomes(const std::string &backend, const Layout &layout, int64_t timeoutUs,
                             const std::function<Status(Member &)> &body) {
  std::vector<Status> all(static_cast<size_t>(layout.ranks));
  runJob(
      backend, layout, [&](Member &m) { all[static_cast<size_t>(m.rank)] = body(m); }, timeoutUs);
  return all;
}

bool contains(const Status &status, const std::string &text) {
  return status.message().find(text) != std::string::npos;
}

// Rank 1's call differs from the others' by `change`.
void expectMismatch(const std::string &backend, const std::string &what,
                    const std::function<void(Call &)> &change) {
  for (Status &status : outcomes(backend, oneGroup(3), kPatientUs, [&](Member &m) {
         std::vector<int32_t> pairs = {0, 1};
         Elements src(kCollF32, 64), dst(kCollF32, 64);
         Call call = makeCall(OpKind::Reduce, kCollF32, 8, src.data(), dst.data());
         if (m.rank == 1)
           change(call);
         return m.call(call);
       })) {
    EXPECT_EQ(status.code(), kCollMismatch) << status.toString();
    EXPECT_TRUE(contains(status, "train.py:7:1")) << status.message();
    if (!showsCalls(backend))
      continue;
    EXPECT_TRUE(contains(status, what)) << status.message();
    // The error may name rank 0 or rank 2, whichever finds the mismatch first.
    EXPECT_TRUE(contains(status, " calls reduce sum f32 x 8 root 0 (op 3 at train.py:7:1)"))
        << status.message();
    EXPECT_TRUE(contains(status, "rank 1 calls")) << status.message();
  }
}

TEST_P(Failures, MismatchReachesEveryMember) {
  COLL_NEEDS_RANKS(3);
  expectMismatch(GetParam(), "operations differ", [](Call &c) { c.kind = OpKind::AllReduce; });
  expectMismatch(GetParam(), "counts differ", [](Call &c) { c.count = 7; });
  expectMismatch(GetParam(), "element types differ", [](Call &c) { c.dtype = kCollI32; });
  expectMismatch(GetParam(), "reductions differ", [](Call &c) { c.reduction = kCollMax; });
  if (takesOrders(GetParam())) {
    expectMismatch(GetParam(), "accumulation types differ",
                   [](Call &c) { c.accumulation = kCollAccumulateF32; });
    expectMismatch(GetParam(), "orders differ", [](Call &c) { c.order = kCollOrderRank; });
  }
  expectMismatch(GetParam(), "roots differ", [](Call &c) { c.root = 1; });
  if (showsCalls(GetParam()))
    expectMismatch(GetParam(), "places in the program differ", [](Call &c) { c.site.op = 4; });
}

TEST_P(Failures, OpIdsOfDifferentProgramsAreNotCompared) {
  COLL_NEEDS_RANKS(2);
  for (Status &status : outcomes(GetParam(), oneGroup(2), kPatientUs, [](Member &m) {
         Call call = makeCall(OpKind::Barrier, kCollF32, 0, nullptr, nullptr);
         call.site.op = m.rank;
         call.site.program = m.rank;
         return m.call(call);
       }))
    EXPECT_TRUE(status.ok()) << status.toString();
}

TEST_P(Failures, PermutePairsMustAgree) {
  COLL_NEEDS_RANKS(2);
  for (Status &status : outcomes(GetParam(), oneGroup(2), kPatientUs, [](Member &m) {
         int32_t pair[2] = {m.rank, 1 - m.rank};
         Elements src(kCollF32, 2), dst(kCollF32, 2);
         Call call = makeCall(OpKind::Permute, kCollF32, 2, src.data(), dst.data());
         call.pairs = pair;
         call.numPairs = 1;
         return m.call(call);
       }))
    EXPECT_EQ(status.code(), kCollMismatch) << status.toString();
}

TEST_P(Failures, TransferSizesMustAgree) {
  COLL_NEEDS_RANKS(2);
  for (Status &status : outcomes(GetParam(), oneGroup(2), kPatientUs, [](Member &m) {
         Elements data(kCollF32, 8);
         Call call = makeCall(m.rank ? OpKind::Recv : OpKind::Send, kCollF32, 4 + m.rank,
                              data.data(), data.data());
         call.peer = 1 - m.rank;
         return m.call(call);
       })) {
    EXPECT_EQ(status.code(), kCollMismatch) << status.toString();
    if (!showsCalls(GetParam()))
      continue;
    EXPECT_TRUE(contains(status, "rank 0 calls send f32 x 4")) << status.message();
    EXPECT_TRUE(contains(status, "rank 1 calls recv f32 x 5")) << status.message();
  }
}

// All ranks wait for messages that never come; the deadline ends the wait.
TEST_P(Failures, TimeoutNamesTheOperationAndThePeers) {
  COLL_NEEDS_RANKS(2);
  std::vector<Status> all = outcomes(GetParam(), oneGroup(2), 500'000, [](Member &m) {
    Elements data(kCollF32, 1);
    Call call =
        makeCall(m.rank ? OpKind::Recv : OpKind::Send, kCollF32, 1, data.data(), data.data());
    call.peer = 1 - m.rank;
    call.tag = m.rank; // never the peer's
    return m.call(call);
  });
  int timeouts = 0;
  for (size_t rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(all[rank].code() == kCollTimeout || all[rank].code() == kCollAborted)
        << all[rank].toString();
    timeouts += all[rank].code() == kCollTimeout;
    EXPECT_TRUE(contains(all[rank], "train.py:7:1")) << all[rank].message();
    if (!showsCalls(GetParam()))
      continue;
    EXPECT_TRUE(contains(all[rank], "group [0, 1]")) << all[rank].message();
    EXPECT_TRUE(contains(all[rank], "waiting for rank")) << all[rank].message();
  }
  EXPECT_GE(timeouts, 1);
}

// Rank 2 returns although the others wait for it; this must be noticed long before the deadline.
TEST_P(Failures, LeavingRankEndsTheOthersWait) {
  COLL_NEEDS_RANKS(4);
  std::vector<Status> all = outcomes(GetParam(), oneGroup(4), kPatientUs, [](Member &m) {
    Elements data(kCollF32, 1);
    return m.rank == 2 ? Status()
                       : m.call(makeCall(OpKind::AllReduce, kCollF32, 1, data.data(), data.data()));
  });
  int peers = 0;
  for (size_t rank : {0, 1, 3}) {
    EXPECT_TRUE(all[rank].code() == kCollPeer || all[rank].code() == kCollAborted);
    EXPECT_TRUE(contains(all[rank], "rank 2 has ended")) << all[rank].message();
    peers += all[rank].code() == kCollPeer;
  }
  EXPECT_GE(peers, 1);
}

TEST_P(Failures, LeavingRankEndsTransfers) {
  COLL_NEEDS_RANKS(2);
  std::vector<Status> all = outcomes(GetParam(), oneGroup(2), kPatientUs, [](Member &m) {
    Elements data(kCollF32, 1);
    Call call = makeCall(OpKind::Recv, kCollF32, 1, nullptr, data.data());
    call.peer = 1;
    return m.rank == 1 ? Status() : m.call(call);
  });
  EXPECT_EQ(all[0].code(), kCollPeer) << all[0].toString();
}

// Rank 3 leaves with an operation in flight that the others wait for.
TEST_P(Failures, LeavingInFlightFailsTheOthers) {
  COLL_NEEDS_RANKS(4);
  std::vector<Status> all = outcomes(GetParam(), oneGroup(4), kPatientUs, [](Member &m) {
    if (m.rank == 0)
      return Status();
    Elements data(kCollF32, 1);
    Call call = makeCall(OpKind::AllReduce, kCollF32, 1, data.data(), data.data());
    if (m.rank != 3)
      return m.call(call);
    Result<Request *> request = m.start(call);
    m.endpoint.leave();
    return request.status();
  });
  for (size_t rank : {1, 2})
    EXPECT_TRUE(all[rank].code() == kCollPeer || all[rank].code() == kCollAborted)
        << all[rank].toString();
}

TEST_P(Failures, AbortReachesWaitersOfOtherGroups) {
  COLL_NEEDS_RANKS(4);
  Layout layout{4, {{0, 1}, {2, 3}}};
  std::vector<Status> all = outcomes(GetParam(), layout, kPatientUs, [](Member &m) {
    Elements data(kCollF32, 1);
    if (m.rank == 3) {
      m.endpoint.abort({kCollDevice, "the coffee is out"});
      return Status();
    }
    Call call = makeCall(OpKind::Recv, kCollF32, 1, nullptr, data.data());
    call.peer = 1 - m.position;
    return m.call(call);
  });
  for (size_t rank : {0, 1, 2}) {
    EXPECT_EQ(all[rank].code(), kCollAborted) << all[rank].toString();
    EXPECT_TRUE(contains(all[rank], "the coffee is out")) << all[rank].message();
  }
}

TEST_P(Failures, NothingSucceedsAfterAnAbort) {
  COLL_NEEDS_RANKS(2);
  std::vector<Status> all = outcomes(GetParam(), oneGroup(2), kPatientUs, [](Member &m) {
    m.endpoint.abort({kCollDevice, "down"});
    return m.call(makeCall(OpKind::Barrier, kCollF32, 0, nullptr, nullptr));
  });
  for (Status &status : all)
    EXPECT_EQ(status.code(), kCollAborted) << status.toString();
}

TEST_P(Failures, WaitingTwiceIsAnError) {
  COLL_NEEDS_RANKS(2);
  runJob(GetParam(), oneGroup(2), [](Member &m) {
    Result<Request *> request = m.start(makeCall(OpKind::Barrier, kCollF32, 0, nullptr, nullptr));
    ASSERT_TRUE(request.ok());
    EXPECT_TRUE(m.wait(*request).ok());
    EXPECT_EQ(m.wait(*request).code(), kCollInvalidCall);
  });
}

TEST_P(Failures, GroupsAreChecked) {
  COLL_NEEDS_RANKS(2);
  runJob(GetParam(), oneGroup(2), [](Member &m) {
    EXPECT_EQ(m.endpoint.communicator({1 - m.rank}).status().code(), kCollInvalidCall);
    EXPECT_EQ(m.endpoint.communicator({m.rank, 2}).status().code(), kCollInvalidCall);
  });
}

} // namespace
} // namespace coll::rt::test
