// Collectives of peer groups, emulated and on GPUs, compared with base/reduce.h: every call, type,
// reduction, alignment and algorithm; payloads that packets reserve; members that are late, make
// other calls, or are missing.

#include "runtime/kernels/peer/packet.h"
#include "test/kernels/peer/peer_members.h"
#include "test/kernels/rounds.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

namespace coll::kernels::test {

using rt::Result;

namespace {

class PeerTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    std::string whyNot;
    rig_ = isEmulated() ? makeEmulatedPeerRig() : makeGpuPeerRig(whyNot);
    if (!rig_)
      GTEST_SKIP() << whyNot;
  }
  static bool isEmulated() { return std::string(GetParam()) == "host"; }

  std::unique_ptr<PeerRig> rig_;
};

std::string nameOf(const testing::TestParamInfo<const char *> &info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(host, PeerTest, testing::Values("host"), nameOf);
INSTANTIATE_TEST_SUITE_P(cuda, PeerTest, testing::Values("cuda"), nameOf);

// On GPUs 25 calls per round: with COLL_TEST_ROUNDS=4000 these are ten thousand of each operation.
TEST_P(PeerTest, RandomCallsAreExact) {
  const int rounds = roundsOr(isEmulated() ? 60 : 220);
  const uint64_t maxBytes = isEmulated() ? 6000 : 300'000;
  Random random(7);
  for (int round = 0; round < rounds; ++round) {
    rig_->recycle();
    const uint32_t size = 1 + random() % (isEmulated() ? 5 : kMaxPeers);
    Members members(*rig_, size, 20'000'000'000,
                    round % 2 ? Members::kSmallWorkspace : Members::kManySlots);
    std::vector<Case> cases;
    const int calls = isEmulated() ? 3 : 25;
    for (int i = 0; i < calls; ++i) {
      Case c = randomCase(random, size, maxBytes);
      if (isEmulated()) {
        c.tuning.blocks = 1 + random() % 3;
        c.tuning.threads = 32;
      } else {
        c.tuning.blocks = random() % 4 == 0 ? 1 + random() % 30 : 30;
      }
      cases.push_back(c);
    }
    members.run(random, cases, random());
    if (HasFatalFailure())
      return;
  }
}

TEST_P(PeerTest, EveryTypeAndReduction) {
  Random random(11);
  for (uint32_t size : {2u, 3u, 4u}) {
    rig_->recycle();
    Members members(*rig_, size);
    for (int dtype = 0; dtype < rt::kNumDtypes; ++dtype)
      for (int reduction = 0; reduction < rt::kNumReductions; ++reduction) {
        Case c;
        c.dtype = static_cast<CollDtype>(dtype);
        c.reduction = static_cast<CollReduction>(reduction);
        if (!rt::reductionTakes(c.reduction, c.dtype))
          continue;
        c.count = 67;
        std::vector<Case> cases;
        for (PeerAlgorithm algorithm :
             {PeerAlgorithm::OneShot, PeerAlgorithm::TwoShot, PeerAlgorithm::Pipe}) {
          c.tuning = isEmulated() ? PeerTuning{algorithm, 1, 32} : PeerTuning{algorithm, 2, 64};
          cases.push_back(c);
        }
        members.run(random, cases, 0);
        if (HasFatalFailure())
          return;
      }
  }
}

// Members that receive nothing must zero a buffer that they have to send first.
TEST_P(PeerTest, PermuteInPlaceSendsBeforeItZeroes) {
  Random random(17);
  for (PeerAlgorithm algorithm : {PeerAlgorithm::OneShot, PeerAlgorithm::Pipe}) {
    Members members(*rig_, 3);
    Case c;
    c.op = Op::Permute;
    c.dtype = kCollI32;
    c.count = algorithm == PeerAlgorithm::Pipe ? 30'000 : 700; // several pieces of a block
    c.inPlace = true;
    c.pairs = {0, 2, 1, 0};
    c.tuning = isEmulated() ? PeerTuning{algorithm, 1, 32} : PeerTuning{algorithm, 1, 64};
    members.run(random, {c}, 0);
    if (HasFatalFailure())
      return;
  }
}

// More blocks than a lane has rings; other calls use the same rings before and after.
TEST_P(PeerTest, ARelayUsesAllLanes) {
  Random random(19);
  Members members(*rig_, 3);
  std::vector<Case> cases;
  for (Op op : {Op::AllReduce, Op::Broadcast, Op::Broadcast, Op::Reduce, Op::Broadcast}) {
    Case c;
    c.op = op;
    c.root = static_cast<uint32_t>(cases.size()) % 3;
    c.count = isEmulated() ? 6000 : 6'000'000;
    c.tuning = {PeerAlgorithm::Pipe, op == Op::Broadcast ? 7u : 3u, isEmulated() ? 32u : 256u};
    if (!isEmulated() && op == Op::Broadcast)
      c.tuning = {PeerAlgorithm::Pipe, 0, 0};
    cases.push_back(c);
  }
  members.run(random, cases, 3);
}

// All data has a payload that packets reserve.
TEST_P(PeerTest, ReservedPayloadsArrive) {
  Random random(13);
  for (Op op : {Op::AllGather, Op::Broadcast, Op::AllToAll, Op::AllReduce})
    for (uint32_t last : {kEmptyWord3, kEscapeWord3}) {
      Members members(*rig_, 3);
      Case c;
      c.op = op;
      c.dtype = kCollI32;
      c.reduction = kCollMax;
      c.count = 4 * 50;
      c.tuning = isEmulated() ? PeerTuning{PeerAlgorithm::OneShot, 2, 32}
                              : PeerTuning{PeerAlgorithm::OneShot, 2, 64};
      std::vector<Buffers> buffers = members.prepare(random, c);
      std::vector<PeerStream> streams;
      const uint32_t reserved[4] = {kEmptyWord0, kEmptyWord1, kEmptyWord2, last};
      for (uint32_t rank = 0; rank < 3; ++rank) {
        Bytes &sent = buffers[rank].sent;
        for (size_t at = 0; at < sent.size(); at += 16)
          std::memcpy(sent.data() + at, reserved, 16);
        rig_->copyIn(buffers[rank].src, sent.data(), sent.size());
        Result<PeerPlan> plan = members.planOf(c, rank, buffers);
        ASSERT_TRUE(plan.ok());
        streams.push_back({members.member(rank), {*plan, *plan, *plan}});
      }
      rig_->run(streams, 5);
      for (uint32_t rank = 0; rank < 3; ++rank) {
        ASSERT_EQ(members.member(rank).control->error, 0u);
        Bytes got(c.blockBytes());
        rig_->copyOut(got.data(), buffers[rank].dst, got.size());
        for (size_t at = 0; at < got.size() && (op != Op::Broadcast || rank != 0); at += 16)
          ASSERT_EQ(std::memcmp(got.data() + at, reserved, 16), 0) << c.name() << " at " << at;
      }
    }
}

class PeerFailureTest : public PeerTest {
protected:
  // What the members report if `skip` makes its call only after the others have given up.
  std::vector<KernelError> runWithout(uint32_t skip, PeerAlgorithm algorithm, Op op, bool abort) {
    Members members(*rig_, 3, abort ? 60'000'000'000 : 300'000'000);
    Random random(3);
    Case c;
    c.op = op;
    c.count = 1000;
    c.tuning = isEmulated() ? PeerTuning{algorithm, 2, 32} : PeerTuning{algorithm, 2, 64};
    std::vector<Buffers> buffers = members.prepare(random, c);
    std::vector<PeerStream> streams, late;
    for (uint32_t rank = 0; rank < 3; ++rank) {
      Result<PeerPlan> plan = members.planOf(c, rank, buffers);
      EXPECT_TRUE(plan.ok());
      if (rank == skip)
        late.push_back({members.member(rank), {*plan}});
      // A second call after the failed one must end at once.
      streams.push_back({members.member(rank), {}});
      if (rank != skip)
        streams.back().plans = {*plan, *plan};
      if (abort && rank == (skip + 1) % 3)
        members.member(rank).control->abort = 1;
    }
    rig_->run(streams, 0);
    rig_->run(late, 0);
    std::vector<KernelError> errors;
    for (uint32_t rank = 0; rank < 3; ++rank)
      errors.push_back(members.errorOf(rank));
    return errors;
  }
};
INSTANTIATE_TEST_SUITE_P(host, PeerFailureTest, testing::Values("host"), nameOf);
INSTANTIATE_TEST_SUITE_P(cuda, PeerFailureTest, testing::Values("cuda"), nameOf);

TEST_P(PeerFailureTest, AMissingMemberEndsInTheErrorWord) {
  for (PeerAlgorithm algorithm :
       {PeerAlgorithm::OneShot, PeerAlgorithm::TwoShot, PeerAlgorithm::Pipe})
    for (Op op : {Op::AllReduce, Op::AllGather, Op::Broadcast}) {
      const std::vector<KernelError> errors = runWithout(2, algorithm, op, false);
      int timeouts = 0;
      for (uint32_t rank : {0u, 1u}) {
        EXPECT_TRUE(errors[rank] == KernelError::PeerTimeout ||
                    errors[rank] == KernelError::PeerFailed)
            << "operation " << static_cast<int>(op) << " member " << rank;
        timeouts += errors[rank] == KernelError::PeerTimeout;
      }
      EXPECT_GE(timeouts, 1);
      EXPECT_EQ(errors[2], KernelError::PeerFailed) << "a call that does nothing says so";
    }
}

TEST_P(PeerFailureTest, AbortEndsAllMembers) {
  for (PeerAlgorithm algorithm : {PeerAlgorithm::OneShot, PeerAlgorithm::Pipe}) {
    const std::vector<KernelError> errors = runWithout(2, algorithm, Op::AllReduce, true);
    EXPECT_EQ(errors[0], KernelError::PeerAborted);
    EXPECT_EQ(errors[1], KernelError::PeerFailed);
    EXPECT_EQ(errors[2], KernelError::PeerFailed);
  }
}

// Members that name different places must write nothing.
TEST_P(PeerFailureTest, OtherPlacesAreSeen) {
  Members members(*rig_, 2, 300'000'000);
  std::vector<char> sent(4000, 'x'), got(sent.size());
  std::vector<PeerStream> streams;
  char *dst[] = {rig_->device(0, sent.size()), rig_->device(1, sent.size())};
  rig_->copyIn(dst[0], sent.data(), sent.size());
  for (uint32_t rank = 0; rank < 2; ++rank) {
    CopyArgs copy;
    copy.src = copy.dst = dst[rank];
    copy.srcRowBytes = copy.dstRowBytes = sent.size();
    std::copy_n(dst, 2, copy.peerDst);
    copy.dstPlace = rank;
    copy.tuning = {PeerAlgorithm::Pipe, 2, isEmulated() ? 32u : 64u};
    const Result<PeerPlan> plan = planBroadcast(members.member(rank), copy);
    ASSERT_TRUE(plan.ok());
    streams.push_back({members.member(rank), {*plan}});
  }
  rig_->run(streams, 0);
  for (uint32_t rank = 0; rank < 2; ++rank)
    EXPECT_EQ(members.errorOf(rank), KernelError::PeerMismatch) << "member " << rank;
  rig_->copyOut(got.data(), dst[1], got.size());
  EXPECT_EQ(got, std::vector<char>(sent.size(), 0));
}

TEST_P(PeerFailureTest, OtherCallsAreSeen) {
  Random random(3);
  for (PeerAlgorithm algorithm : {PeerAlgorithm::OneShot, PeerAlgorithm::Pipe}) {
    Members members(*rig_, 2, 300'000'000);
    std::vector<PeerStream> streams;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      Case c;
      c.count = 100 + rank * 1000;
      c.tuning = isEmulated() ? PeerTuning{algorithm, 2, 32} : PeerTuning{algorithm, 2, 64};
      std::vector<Buffers> buffers = members.prepare(random, c);
      Result<PeerPlan> plan = members.planOf(c, rank, buffers);
      ASSERT_TRUE(plan.ok());
      streams.push_back({members.member(rank), {*plan}});
    }
    rig_->run(streams, 0);
    for (uint32_t rank = 0; rank < 2; ++rank)
      EXPECT_EQ(members.errorOf(rank), KernelError::PeerMismatch) << "member " << rank;
  }
}

} // namespace

} // namespace coll::kernels::test
