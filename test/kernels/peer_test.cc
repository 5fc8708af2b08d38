// Collectives of peer groups, emulated and on GPUs, against base/reduce.h: every call, type,
// reduction, alignment and algorithm; payloads that packets reserve; members that are late, make
// other calls, or never come.

#include "runtime/base/dtype.h"
#include "runtime/base/reduce.h"
#include "runtime/kernels/error_word.h"
#include "runtime/kernels/peer_packet.h"
#include "runtime/kernels/peer_tuning.h"
#include "test/kernels/peer_rig.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace coll::kernels::test {

using rt::Result;
using Bytes = std::vector<char>;
using Random = std::mt19937;

namespace {

enum class Op {
  AllReduce,
  ReduceScatter,
  Reduce,
  AllGather,
  AllToAll,
  Broadcast,
  Gather,
  Scatter,
  Permute,
  Barrier
};
constexpr Op kOps[] = {Op::AllReduce, Op::ReduceScatter, Op::Reduce,  Op::AllGather, Op::AllToAll,
                       Op::Broadcast, Op::Gather,        Op::Scatter, Op::Permute,   Op::Barrier};
constexpr const char *kOpNames[] = {"all_reduce", "reduce_scatter", "reduce", "all_gather",
                                    "all_to_all", "broadcast",      "gather", "scatter",
                                    "permute",    "barrier"};

// A call that all members make.
struct Case {
  Op op = Op::AllReduce;
  CollDtype dtype = kCollF32;
  CollReduction reduction = kCollSum;
  uint64_t count = 0; // elements of a block
  uint64_t outer = 1;
  uint64_t dstOuter = 1;
  uint32_t root = 0;
  bool inPlace = false;
  bool direct = false;
  uint32_t srcOffset = 0, dstOffset = 0; // of the buffers, from an aligned address
  PeerTuning tuning;
  std::vector<int32_t> pairs;

  std::string name() const {
    return std::string(kOpNames[static_cast<int>(op)]) + " " + rt::reductionName(reduction) + " " +
           rt::dtypeName(dtype) + " x " + std::to_string(outer) + " x " + std::to_string(count) +
           " root " + std::to_string(root) + (inPlace ? " in place" : "") +
           (direct ? " direct" : "") + " offsets " + std::to_string(srcOffset) + " " +
           std::to_string(dstOffset) + " algorithm " +
           std::to_string(static_cast<int>(tuning.algorithm)) + " grid " +
           std::to_string(tuning.blocks) + " x " + std::to_string(tuning.threads);
  }
  uint64_t blockBytes() const {
    return outer * count * static_cast<uint64_t>(rt::dtypeSize(dtype));
  }
  bool reduces() const { return op <= Op::Reduce; }
  bool srcIsWide() const {
    return op == Op::ReduceScatter || op == Op::AllToAll || op == Op::Scatter;
  }
  bool dstIsWide() const { return op == Op::AllGather || op == Op::AllToAll || op == Op::Gather; }
};

// One member's buffers of a case.
struct Buffers {
  char *src = nullptr;
  char *dst = nullptr;
  Bytes sent;     // src at first
  Bytes before;   // dst at first
  Bytes expected; // dst in the end
};

// Random bits; of floats, without NaN, since which NaN comes out is the hardware's affair.
Bytes randomElements(Random &random, const Case &c, uint64_t bytes) {
  Bytes result(bytes);
  for (char &byte : result)
    byte = static_cast<char>(random());
  const auto size = static_cast<uint64_t>(rt::dtypeSize(c.dtype));
  if (!c.reduces()) {
    // Some packets hold what is reserved.
    const uint32_t reserved[4] = {kEmptyWord0, kEmptyWord1, kEmptyWord2,
                                  random() % 2 ? kEmptyWord3 : kEscapeWord3};
    for (uint64_t at = 0; at + 16 <= bytes; at += 16)
      if (random() % 8 == 0)
        std::memcpy(result.data() + at, reserved, random() % 2 ? 16 : 12);
    return result;
  }
  for (uint64_t i = 0; i < bytes / size; ++i) {
    char *at = result.data() + i * size;
    const double value = static_cast<double>(static_cast<int32_t>(random())) / (1 << 27);
    const auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
    switch (c.dtype) {
    case kCollF32:
      put(static_cast<float>(value));
      break;
    case kCollF64:
      put(value);
      break;
    case kCollF16:
      put(rt::f32ToF16(static_cast<float>(value)));
      break;
    case kCollBf16:
      put(rt::f32ToBf16(static_cast<float>(value)));
      break;
    case kCollF8E4M3FN:
      put(rt::f32ToF8E4M3FN(static_cast<float>(value / 16)));
      break;
    case kCollF8E5M2:
      put(rt::f32ToF8E5M2(static_cast<float>(value / 16)));
      break;
    case kCollBool:
      put(static_cast<uint8_t>(random() % 2));
      break;
    default:
      break;
    }
  }
  if (c.dtype == kCollI32 || c.dtype == kCollI64 || c.dtype == kCollI8) {
    const uint32_t reserved[4] = {kEmptyWord0, kEmptyWord1, kEmptyWord2,
                                  random() % 2 ? kEmptyWord3 : kEscapeWord3};
    for (uint64_t at = 0; at + 16 <= bytes; at += 16)
      if (random() % 8 == 0)
        std::memcpy(result.data() + at, reserved, 16);
  }
  return result;
}

// Block j of a wide buffer as one piece, and back.
Bytes blockOf(const Bytes &wide, const Case &c, uint64_t outer, uint32_t size, uint32_t j) {
  const uint64_t row = outer ? c.blockBytes() / outer : 0;
  Bytes block;
  for (uint64_t o = 0; o < outer; ++o)
    block.insert(block.end(), wide.begin() + static_cast<ptrdiff_t>((o * size + j) * row),
                 wide.begin() + static_cast<ptrdiff_t>((o * size + j + 1) * row));
  return block;
}
void putBlock(Bytes &wide, const Case &c, uint64_t outer, uint32_t size, uint32_t j,
              const Bytes &block) {
  const uint64_t row = outer ? c.blockBytes() / outer : 0;
  for (uint64_t o = 0; o < outer; ++o)
    std::copy_n(block.begin() + static_cast<ptrdiff_t>(o * row), row,
                wide.begin() + static_cast<ptrdiff_t>((o * size + j) * row));
}

Bytes reduced(const Case &c, const std::vector<Bytes> &contributions) {
  std::vector<const void *> sources;
  for (const Bytes &bytes : contributions)
    sources.push_back(bytes.data());
  Bytes result(contributions[0].size());
  rt::reduceBuffers(c.dtype, c.reduction, sources.data(), static_cast<int>(sources.size()),
                    result.data(), static_cast<int64_t>(result.size()) / rt::dtypeSize(c.dtype));
  return result;
}

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
      all.push_back(prepare(random, c));
      for (uint32_t rank = 0; rank < size_; ++rank) {
        Result<PeerPlan> plan = planOf(c, rank, all.back());
        ASSERT_TRUE(plan.ok()) << c.name() << ": " << plan.status().toString();
        streams[rank].plans.push_back(*plan);
      }
    }
    rig_.run(streams, seed);
    for (const PeerGroup &member : members_)
      ASSERT_EQ(member.control->error, 0u)
          << "member " << member.rank << ": " << describeErrorWord(member.control->error) << ": "
          << cases[0].name();
    for (size_t i = 0; i < cases.size(); ++i)
      compare(cases[i], all[i]);
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
    const uint64_t block = c.blockBytes();
    const uint64_t srcBytes = c.srcIsWide() ? block * size_ : block;
    const uint64_t dstBytes = c.dstIsWide() ? block * size_ : block;
    std::vector<Buffers> buffers(size_);
    for (uint32_t rank = 0; rank < size_; ++rank) {
      Buffers &b = buffers[rank];
      b.src = rig_.device(rank, srcBytes + 64) + c.srcOffset;
      b.dst = rig_.device(rank, dstBytes + 64) + c.dstOffset;
      b.sent = randomElements(random, c, srcBytes);
      b.before.resize(dstBytes);
      for (char &byte : b.before)
        byte = static_cast<char>(random());
      if (c.inPlace)
        placeInPlace(c, rank, b);
      rig_.copyIn(b.dst, b.before.data(), b.before.size());
      if (!c.inPlace || srcBytes > dstBytes)
        rig_.copyIn(b.src, b.sent.data(), b.sent.size());
    }
    for (uint32_t rank = 0; rank < size_; ++rank)
      buffers[rank].expected = expect(c, rank, buffers);
    return buffers;
  }

private:
  // The smaller buffer is the member's own block of the larger one.
  void placeInPlace(const Case &c, uint32_t rank, Buffers &b) const {
    if (b.sent.size() > b.before.size()) {
      b.dst = b.src + rank * b.before.size();
      std::copy_n(b.sent.begin() + static_cast<ptrdiff_t>(rank * b.before.size()), b.before.size(),
                  b.before.begin());
    } else if (b.sent.size() < b.before.size()) {
      b.src = b.dst + rank * b.sent.size();
      std::copy(b.sent.begin(), b.sent.end(),
                b.before.begin() + static_cast<ptrdiff_t>(rank * b.sent.size()));
    } else {
      b.src = b.dst;
      b.before = b.sent;
    }
    (void)c;
  }

  Bytes expect(const Case &c, uint32_t rank, const std::vector<Buffers> &buffers) const {
    Bytes result = buffers[rank].before;
    std::vector<Bytes> all;
    for (const Buffers &b : buffers)
      all.push_back(b.sent);
    switch (c.op) {
    case Op::AllReduce:
      return reduced(c, all);
    case Op::Reduce:
      return rank == c.root ? reduced(c, all) : result;
    case Op::ReduceScatter:
      for (Bytes &bytes : all)
        bytes = blockOf(bytes, c, c.outer, size_, rank);
      return reduced(c, all);
    case Op::AllGather:
    case Op::Gather:
      if (c.op == Op::AllGather || rank == c.root)
        for (uint32_t p = 0; p < size_; ++p)
          putBlock(result, c, c.dstOuter, size_, p, all[p]);
      return result;
    case Op::AllToAll:
      for (uint32_t p = 0; p < size_; ++p)
        putBlock(result, c, c.dstOuter, size_, p, blockOf(all[p], c, c.outer, size_, rank));
      return result;
    case Op::Broadcast:
      return all[c.root];
    case Op::Scatter:
      return blockOf(all[c.root], c, c.outer, size_, rank);
    case Op::Permute:
      std::fill(result.begin(), result.end(), '\0');
      for (size_t i = 0; i < c.pairs.size(); i += 2)
        if (c.pairs[i + 1] == static_cast<int32_t>(rank))
          result = all[static_cast<size_t>(c.pairs[i])];
      return result;
    case Op::Barrier:
      return result;
    }
    return result;
  }

  void compare(const Case &c, const std::vector<Buffers> &buffers) {
    for (uint32_t rank = 0; rank < size_; ++rank) {
      const Buffers &b = buffers[rank];
      Bytes got(b.expected.size());
      rig_.copyOut(got.data(), b.dst, got.size());
      const auto at = std::mismatch(got.begin(), got.end(), b.expected.begin()).first;
      ASSERT_EQ(at - got.begin(), static_cast<ptrdiff_t>(got.size()))
          << "first wrong byte at member " << rank << " of " << size_ << ": " << c.name();
      char behind[32], zero[32] = {};
      if (c.inPlace)
        continue;
      rig_.copyOut(behind, b.dst + got.size(), sizeof behind);
      ASSERT_EQ(std::memcmp(behind, zero, sizeof behind), 0) << "written behind dst: " << c.name();
    }
  }

  PeerRig &rig_;
  const uint32_t size_;
  std::vector<PeerGroup> members_;
  std::vector<char *> workspaces_;
};

std::vector<int32_t> randomPairs(Random &random, uint32_t size) {
  std::vector<int32_t> sources(size), targets(size), pairs;
  for (uint32_t i = 0; i < size; ++i)
    sources[i] = targets[i] = static_cast<int32_t>(i);
  std::shuffle(sources.begin(), sources.end(), random);
  std::shuffle(targets.begin(), targets.end(), random);
  const uint32_t count = random() % (size + 1);
  for (uint32_t i = 0; i < count; ++i) {
    pairs.push_back(sources[i]);
    pairs.push_back(targets[i]);
  }
  return pairs;
}

// Everything at random that the arguments leave open.
Case randomCase(Random &random, uint32_t size, uint64_t maxBytes) {
  Case c;
  c.op = kOps[random() % std::size(kOps)];
  do {
    c.dtype = static_cast<CollDtype>(random() % rt::kNumDtypes);
    c.reduction = static_cast<CollReduction>(random() % rt::kNumReductions);
  } while (!rt::reductionTakes(c.reduction, c.dtype));
  if (random() % 3 == 0) {
    c.dtype = random() % 2 ? kCollF32 : kCollBf16;
    c.reduction = random() % 2 ? kCollSum : kCollAvg;
  }
  const auto elem = static_cast<uint64_t>(rt::dtypeSize(c.dtype));
  c.count = random() % 16 == 0 ? random() % 3 : 1 + random() % (1 + random() % (maxBytes / elem));
  if (random() % 4 == 0) {
    c.outer = 1 + random() % 4;
    c.count = c.count / c.outer;
  }
  c.dstOuter = c.outer;
  if (c.op == Op::AllToAll && random() % 2 == 0)
    c.dstOuter = 1;
  c.root = random() % size;
  c.inPlace = random() % 3 == 0;
  if (c.inPlace && c.outer > 1 && c.op != Op::AllReduce)
    c.inPlace = false;
  c.direct = random() % 3 == 0 && c.op != Op::Permute && !c.inPlace;
  const auto offset = [&] {
    return random() % 2 ? 0 : static_cast<uint32_t>(random() % (32 / elem) * elem);
  };
  c.srcOffset = offset();
  c.dstOffset = offset();
  c.tuning.algorithm = static_cast<PeerAlgorithm>(random() % 4);
  c.pairs = randomPairs(random, size);
  return c;
}

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
  void renew() {
    std::string whyNot;
    rig_.reset();
    rig_ = isEmulated() ? makeEmulatedPeerRig() : makeGpuPeerRig(whyNot);
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
    if (round % 10 == 0)
      renew();
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
    renew();
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
            << kOpNames[static_cast<int>(op)] << " member " << rank;
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
