// Collectives of peer groups, emulated and on GPUs, against base/reduce.h: every call, type,
// reduction, alignment and algorithm; payloads that packets reserve; members that are late, make
// other calls, or never come.

#include "runtime/kernels/error_word.h"
#include "runtime/kernels/peer_packet.h"
#include "runtime/kernels/peer_tuning.h"
#include "test/kernels/parallel.h"
#include "test/kernels/peer_cases.h"
#include "test/kernels/peer_rig.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

namespace coll::kernels::test {

using rt::Result;

namespace {

// One member's buffers of a case.
struct Buffers {
  char *src = nullptr;
  char *dst = nullptr;
  bool guarded = true; // dst has nothing else beside it
  Bytes sent;          // src at first
  Bytes before;        // dst at first
  Bytes expected;      // dst in the end
};
constexpr size_t kGuardBytes = 32; // zero, before and behind every buffer

class Group {
public:
  static constexpr WorkspaceSizes kSmallWorkspace = {64 << 10, 4, 8 << 10, 2},
                                  kManySlots = {64 << 10, 4, 12 << 10, 4};

  Group(PeerRig &rig, uint32_t size, uint64_t timeoutNs = 20'000'000'000,
        const WorkspaceSizes &sizes = kSmallWorkspace)
      : rig_(rig), size_(size) {
    for (uint32_t rank = 0; rank < size; ++rank) {
      PeerGroup group;
      group.rank = rank;
      group.size = size;
      group.layout = rig.isEmulated() ? workspaceLayout(size, sizes) : workspaceLayout(size);
      group.timeoutNs = timeoutNs;
      group.maxBlocks = rig.maxBlocks(size);
      group.control = rig.control();
      members_.push_back(group);
      workspaces_.push_back(rig.device(rank, group.layout.bytes));
    }
    for (PeerGroup &group : members_) {
      std::copy(workspaces_.begin(), workspaces_.end(), group.workspace);
      rig.initWorkspace(group);
    }
  }

  uint32_t size() const { return size_; }
  const PeerGroup &member(uint32_t rank) const { return members_[rank]; }
  PeerRig &rig() { return rig_; }

  KernelError errorOf(uint32_t rank) const {
    return static_cast<KernelError>(static_cast<uint32_t>(members_[rank].control->error));
  }

  // Makes the calls on all members, and compares.
  void run(Random &random, const std::vector<Case> &cases, uint64_t seed) {
    std::vector<PeerStream> streams;
    for (const PeerGroup &member : members_)
      streams.push_back({member, {}});
    std::vector<std::vector<Buffers>> all;
    for (const Case &c : cases) {
      all.push_back(place(c));
      for (uint32_t rank = 0; rank < size_; ++rank) {
        Result<PeerPlan> plan = planOf(c, rank, all.back());
        ASSERT_TRUE(plan.ok()) << c.name() << ": " << plan.status().toString();
        streams[rank].plans.push_back(*plan);
      }
    }
    const uint64_t data = random();
    forEach(cases.size(), rig_.hostThreads(),
            [&](size_t i) { fill(Fast(data, i), cases[i], all[i]); });
    rig_.run(streams, seed);
    for (const PeerGroup &member : members_)
      ASSERT_EQ(member.control->error, 0u)
          << "member " << member.rank << ": " << describeErrorWord(member.control->error) << ": "
          << cases[0].name();
    std::vector<std::string> wrong(cases.size());
    forEach(cases.size(), rig_.hostThreads(),
            [&](size_t i) { wrong[i] = difference(cases[i], all[i]); });
    for (const std::string &what : wrong)
      ASSERT_EQ(what, "");
  }

  Result<PeerPlan> planOf(const Case &c, uint32_t rank, const std::vector<Buffers> &buffers) const {
    const Buffers &own = buffers[rank];
    ReduceArgs reduce;
    reduce.src = own.src;
    reduce.dst = own.dst;
    reduce.outer = c.op == Op::ReduceScatter ? c.outer : 1;
    reduce.count = c.op == Op::ReduceScatter ? c.count : c.outer * c.count;
    reduce.dtype = c.dtype;
    reduce.reduction = c.reduction;
    reduce.root = c.root;
    reduce.tuning = c.tuning;
    CopyArgs copy;
    copy.src = own.src;
    copy.dst = own.dst;
    copy.srcRows = c.outer;
    copy.srcRowBytes = c.outer ? c.blockBytes() / c.outer : 0;
    copy.dstRows = c.dstOuter;
    copy.dstRowBytes = c.dstOuter ? c.blockBytes() / c.dstOuter : 0;
    copy.root = c.root;
    copy.tuning = c.tuning;
    if (c.direct)
      for (uint32_t p = 0; p < size_; ++p)
        reduce.peerDst[p] = copy.peerDst[p] = buffers[p].dst;
    const PeerGroup &group = members_[rank];
    switch (c.op) {
    case Op::AllReduce:
      return planAllReduce(group, reduce);
    case Op::ReduceScatter:
      return planReduceScatter(group, reduce);
    case Op::Reduce:
      return planReduce(group, reduce);
    case Op::AllGather:
      return planAllGather(group, copy);
    case Op::AllToAll:
      return planAllToAll(group, copy);
    case Op::Broadcast:
      return planBroadcast(group, copy);
    case Op::Gather:
      return planGather(group, copy);
    case Op::Scatter:
      return planScatter(group, copy);
    case Op::Permute:
      return planPermute(group, copy, c.pairs.data(), static_cast<uint32_t>(c.pairs.size() / 2));
    case Op::Barrier:
      return planPeerBarrier(group);
    }
    return PeerPlan();
  }

  std::vector<Buffers> prepare(Random &random, const Case &c) {
    std::vector<Buffers> buffers = place(c);
    fill(Fast(random()), c, buffers);
    return buffers;
  }

private:
  uint64_t srcBytes(const Case &c) const { return c.blockBytes() * (c.srcIsWide() ? size_ : 1); }
  uint64_t dstBytes(const Case &c) const { return c.blockBytes() * (c.dstIsWide() ? size_ : 1); }

  std::vector<Buffers> place(const Case &c) {
    std::vector<Buffers> buffers(size_);
    for (uint32_t rank = 0; rank < size_; ++rank) {
      Buffers &b = buffers[rank];
      const auto room = [&](uint64_t bytes, uint32_t offset) {
        constexpr uint64_t kBefore = 64;
        static_assert(kBefore >= kGuardBytes);
        return rig_.device(rank, kBefore + offset + bytes + kGuardBytes) + kBefore + offset;
      };
      b.src = room(srcBytes(c), c.srcOffset);
      b.dst = room(dstBytes(c), c.dstOffset);
      if (c.inPlace)
        placeInPlace(c, rank, b);
    }
    return buffers;
  }
  // The smaller buffer is the member's own block of the larger one.
  void placeInPlace(const Case &c, uint32_t rank, Buffers &b) const {
    if (srcBytes(c) > dstBytes(c)) {
      b.dst = b.src + rank * dstBytes(c);
      b.guarded = false;
    } else {
      b.src = srcBytes(c) < dstBytes(c) ? b.dst + rank * srcBytes(c) : b.dst;
    }
  }

  void fill(Fast random, const Case &c, std::vector<Buffers> &buffers) {
    for (uint32_t rank = 0; rank < size_; ++rank) {
      Buffers &b = buffers[rank];
      b.sent = randomElements(random, c, srcBytes(c));
      b.before = randomBytes(random, dstBytes(c));
      if (c.inPlace)
        fillInPlace(rank, b);
      rig_.copyIn(b.dst, b.before.data(), b.before.size());
      if (!c.inPlace || b.sent.size() > b.before.size())
        rig_.copyIn(b.src, b.sent.data(), b.sent.size());
    }
    for (uint32_t rank = 0; rank < size_; ++rank)
      buffers[rank].expected =
          c.op == Op::AllReduce && rank > 0 ? buffers[0].expected : expect(c, rank, buffers);
  }
  void fillInPlace(uint32_t rank, Buffers &b) const {
    if (b.sent.size() > b.before.size())
      std::copy_n(b.sent.begin() + static_cast<ptrdiff_t>(rank * b.before.size()), b.before.size(),
                  b.before.begin());
    else
      std::copy(b.sent.begin(), b.sent.end(), b.before.begin() + (b.src - b.dst));
  }

  Bytes expect(const Case &c, uint32_t rank, const std::vector<Buffers> &buffers) const {
    Bytes result = buffers[rank].before;
    std::vector<const void *> all;
    for (const Buffers &b : buffers)
      all.push_back(b.sent.data());
    switch (c.op) {
    case Op::AllReduce:
      return reduced(c, all);
    case Op::Reduce:
      return rank == c.root ? reduced(c, all) : result;
    case Op::ReduceScatter: {
      std::vector<Bytes> blocks;
      for (const Buffers &b : buffers)
        blocks.push_back(blockOf(b.sent, c, c.outer, size_, rank));
      std::transform(blocks.begin(), blocks.end(), all.begin(), [](auto &b) { return b.data(); });
      return reduced(c, all);
    }
    case Op::AllGather:
    case Op::Gather:
      if (c.op == Op::AllGather || rank == c.root)
        for (uint32_t p = 0; p < size_; ++p)
          putBlock(result, c, c.dstOuter, size_, p, buffers[p].sent);
      return result;
    case Op::AllToAll:
      for (uint32_t p = 0; p < size_; ++p)
        putBlock(result, c, c.dstOuter, size_, p,
                 blockOf(buffers[p].sent, c, c.outer, size_, rank));
      return result;
    case Op::Broadcast:
      return buffers[c.root].sent;
    case Op::Scatter:
      return blockOf(buffers[c.root].sent, c, c.outer, size_, rank);
    case Op::Permute:
      std::fill(result.begin(), result.end(), '\0');
      for (size_t i = 0; i < c.pairs.size(); i += 2)
        if (c.pairs[i + 1] == static_cast<int32_t>(rank))
          result = buffers[static_cast<size_t>(c.pairs[i])].sent;
      return result;
    case Op::Barrier:
      return result;
    }
    return result;
  }

  // "", or the first byte that is not as expected.
  std::string difference(const Case &c, const std::vector<Buffers> &buffers) {
    for (uint32_t rank = 0; rank < size_; ++rank) {
      const Buffers &b = buffers[rank];
      const size_t guard = b.guarded ? kGuardBytes : 0;
      Bytes expected(b.expected.size() + 2 * guard), got(expected.size());
      std::copy(b.expected.begin(), b.expected.end(),
                expected.begin() + static_cast<ptrdiff_t>(guard));
      rig_.copyOut(got.data(), b.dst - guard, got.size());
      const auto at = std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin();
      if (at != static_cast<ptrdiff_t>(got.size()))
        return "member " + std::to_string(rank) + " of " + std::to_string(size_) + ": byte " +
               std::to_string(at - static_cast<ptrdiff_t>(guard)) + " of " +
               std::to_string(b.expected.size()) + " is wrong: " + c.name();
    }
    return "";
  }

  PeerRig &rig_;
  const uint32_t size_;
  std::vector<PeerGroup> members_;
  std::vector<char *> workspaces_;
};

class PeerTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    std::string whyNot;
    rig_ = isEmulated() ? makeEmulatedPeerRig() : makeGpuPeerRig(whyNot);
    if (!rig_)
      GTEST_SKIP() << whyNot;
  }
  static bool isEmulated() { return std::string(GetParam()) == "host"; }
  // Small enough for fibers.
  PeerTuning grid(PeerAlgorithm algorithm = PeerAlgorithm::Auto) const {
    return isEmulated() ? PeerTuning{algorithm, 2, 64} : PeerTuning{algorithm, 0, 0};
  }

  std::unique_ptr<PeerRig> rig_;
};

std::string nameOf(const testing::TestParamInfo<const char *> &info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(host, PeerTest, testing::Values("host"), nameOf);
INSTANTIATE_TEST_SUITE_P(cuda, PeerTest, testing::Values("cuda"), nameOf);

// Ten thousand on GPUs.
TEST_P(PeerTest, RandomCallsAreExact) {
  const int rounds = isEmulated() ? 60 : 400;
  const uint64_t maxBytes = isEmulated() ? 6000 : 300'000;
  Random random(7);
  for (int round = 0; round < rounds; ++round) {
    rig_->recycle();
    const uint32_t size = isEmulated() ? 1 + random() % 5 : 1 + random() % 4;
    Group group(*rig_, size, 20'000'000'000,
                round % 2 ? Group::kSmallWorkspace : Group::kManySlots);
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
    group.run(random, cases, random());
    if (HasFatalFailure())
      return;
  }
}

TEST_P(PeerTest, EveryTypeAndReduction) {
  Random random(11);
  for (uint32_t size : {2u, 3u, 4u}) {
    rig_->recycle();
    Group group(*rig_, size);
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
        group.run(random, cases, 0);
        if (HasFatalFailure())
          return;
      }
  }
}

// Members that send and get nothing zero a buffer that they have to send first.
TEST_P(PeerTest, PermuteInPlaceSendsBeforeItZeroes) {
  Random random(17);
  for (PeerAlgorithm algorithm : {PeerAlgorithm::OneShot, PeerAlgorithm::Pipe}) {
    Group group(*rig_, 3);
    Case c;
    c.op = Op::Permute;
    c.dtype = kCollI32;
    c.count = algorithm == PeerAlgorithm::Pipe ? 30'000 : 700; // several pieces of a block
    c.inPlace = true;
    c.pairs = {0, 2, 1, 0};
    c.tuning = isEmulated() ? PeerTuning{algorithm, 1, 32} : PeerTuning{algorithm, 1, 64};
    group.run(random, {c}, 0);
    if (HasFatalFailure())
      return;
  }
}

// More blocks than a lane has rings; other calls use the same rings before and after.
TEST_P(PeerTest, ARelayUsesAllLanes) {
  Random random(19);
  Group group(*rig_, 3);
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
  group.run(random, cases, 3);
}

// A payload that packets reserve, everywhere.
TEST_P(PeerTest, ReservedPayloadsArrive) {
  Random random(13);
  for (Op op : {Op::AllGather, Op::Broadcast, Op::AllToAll, Op::AllReduce})
    for (uint32_t last : {kEmptyWord3, kEscapeWord3}) {
      Group group(*rig_, 3);
      Case c;
      c.op = op;
      c.dtype = kCollI32;
      c.reduction = kCollMax;
      c.count = 4 * 50;
      c.tuning = isEmulated() ? PeerTuning{PeerAlgorithm::OneShot, 2, 32}
                              : PeerTuning{PeerAlgorithm::OneShot, 2, 64};
      std::vector<Buffers> buffers = group.prepare(random, c);
      std::vector<PeerStream> streams;
      const uint32_t reserved[4] = {kEmptyWord0, kEmptyWord1, kEmptyWord2, last};
      for (uint32_t rank = 0; rank < 3; ++rank) {
        Bytes &sent = buffers[rank].sent;
        for (size_t at = 0; at < sent.size(); at += 16)
          std::memcpy(sent.data() + at, reserved, 16);
        rig_->copyIn(buffers[rank].src, sent.data(), sent.size());
        Result<PeerPlan> plan = group.planOf(c, rank, buffers);
        ASSERT_TRUE(plan.ok());
        streams.push_back({group.member(rank), {*plan, *plan, *plan}});
      }
      rig_->run(streams, 5);
      for (uint32_t rank = 0; rank < 3; ++rank) {
        ASSERT_EQ(group.member(rank).control->error, 0u);
        Bytes got(c.blockBytes());
        rig_->copyOut(got.data(), buffers[rank].dst, got.size());
        for (size_t at = 0; at < got.size() && (op != Op::Broadcast || rank != 0); at += 16)
          ASSERT_EQ(std::memcmp(got.data() + at, reserved, 16), 0) << c.name() << " at " << at;
      }
    }
}

class PeerFailureTest : public PeerTest {
protected:
  // What members see if `skip` makes its call only when the others have given up.
  std::vector<KernelError> runWithout(uint32_t skip, PeerAlgorithm algorithm, Op op, bool abort) {
    Group group(*rig_, 3, abort ? 60'000'000'000 : 300'000'000);
    Random random(3);
    Case c;
    c.op = op;
    c.count = 1000;
    c.tuning = isEmulated() ? PeerTuning{algorithm, 2, 32} : PeerTuning{algorithm, 2, 64};
    std::vector<Buffers> buffers = group.prepare(random, c);
    std::vector<PeerStream> streams, late;
    for (uint32_t rank = 0; rank < 3; ++rank) {
      Result<PeerPlan> plan = group.planOf(c, rank, buffers);
      EXPECT_TRUE(plan.ok());
      if (rank == skip)
        late.push_back({group.member(rank), {*plan}});
      // A second call after the failed one ends at once.
      streams.push_back({group.member(rank), {}});
      if (rank != skip)
        streams.back().plans = {*plan, *plan};
      if (abort && rank == (skip + 1) % 3)
        group.member(rank).control->abort = 1;
    }
    rig_->run(streams, 0);
    rig_->run(late, 0);
    std::vector<KernelError> errors;
    for (uint32_t rank = 0; rank < 3; ++rank)
      errors.push_back(group.errorOf(rank));
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

// Members that name different places write nothing.
TEST_P(PeerFailureTest, OtherPlacesAreSeen) {
  Group group(*rig_, 2, 300'000'000);
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
    const Result<PeerPlan> plan = planBroadcast(group.member(rank), copy);
    ASSERT_TRUE(plan.ok());
    streams.push_back({group.member(rank), {*plan}});
  }
  rig_->run(streams, 0);
  for (uint32_t rank = 0; rank < 2; ++rank)
    EXPECT_EQ(group.errorOf(rank), KernelError::PeerMismatch) << "member " << rank;
  rig_->copyOut(got.data(), dst[1], got.size());
  EXPECT_EQ(got, std::vector<char>(sent.size(), 0));
}

TEST_P(PeerFailureTest, OtherCallsAreSeen) {
  Random random(3);
  for (PeerAlgorithm algorithm : {PeerAlgorithm::OneShot, PeerAlgorithm::Pipe}) {
    Group group(*rig_, 2, 300'000'000);
    std::vector<PeerStream> streams;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      Case c;
      c.count = 100 + rank * 1000;
      c.tuning = isEmulated() ? PeerTuning{algorithm, 2, 32} : PeerTuning{algorithm, 2, 64};
      std::vector<Buffers> buffers = group.prepare(random, c);
      Result<PeerPlan> plan = group.planOf(c, rank, buffers);
      ASSERT_TRUE(plan.ok());
      streams.push_back({group.member(rank), {*plan}});
    }
    rig_->run(streams, 0);
    for (uint32_t rank = 0; rank < 2; ++rank)
      EXPECT_EQ(group.errorOf(rank), KernelError::PeerMismatch) << "member " << rank;
  }
}

} // namespace

} // namespace coll::kernels::test
