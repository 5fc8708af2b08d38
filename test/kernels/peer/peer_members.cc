#include "test/kernels/peer/peer_members.h"

#include "test/kernels/parallel.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace coll::kernels::test {

using rt::Result;

namespace {

constexpr size_t kGuardBytes = 32; // zero, before and behind every buffer

} // namespace

Members::Members(PeerRig &rig, uint32_t size, uint64_t timeoutNs, const WorkspaceSizes &sizes)
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

void Members::run(Random &random, const std::vector<Case> &cases, uint64_t seed) {
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

std::vector<Buffers> Members::prepare(Random &random, const Case &c) {
  std::vector<Buffers> buffers = place(c);
  fill(Fast(random()), c, buffers);
  return buffers;
}

Result<PeerPlan> Members::planOf(const Case &c, uint32_t rank,
                                 const std::vector<Buffers> &buffers) const {
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

std::vector<Buffers> Members::place(const Case &c) {
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

void Members::placeInPlace(const Case &c, uint32_t rank, Buffers &b) const {
  if (srcBytes(c) > dstBytes(c)) {
    b.dst = b.src + rank * dstBytes(c);
    b.guarded = false;
  } else {
    b.src = srcBytes(c) < dstBytes(c) ? b.dst + rank * srcBytes(c) : b.dst;
  }
}

void Members::fill(Fast random, const Case &c, std::vector<Buffers> &buffers) {
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

void Members::fillInPlace(uint32_t rank, Buffers &b) const {
  if (b.sent.size() > b.before.size())
    std::copy_n(b.sent.begin() + static_cast<ptrdiff_t>(rank * b.before.size()), b.before.size(),
                b.before.begin());
  else
    std::copy(b.sent.begin(), b.sent.end(), b.before.begin() + (b.src - b.dst));
}

Bytes Members::expect(const Case &c, uint32_t rank, const std::vector<Buffers> &buffers) const {
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
      putBlock(result, c, c.dstOuter, size_, p, blockOf(buffers[p].sent, c, c.outer, size_, rank));
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

std::string Members::difference(const Case &c, const std::vector<Buffers> &buffers) {
  for (uint32_t rank = 0; rank < size_; ++rank) {
    const Buffers &b = buffers[rank];
    const size_t guard = b.guarded ? kGuardBytes : 0;
    Bytes expected(b.expected.size() + 2 * guard), got(expected.size());
    std::copy(b.expected.begin(), b.expected.end(),
              expected.begin() + static_cast<ptrdiff_t>(guard));
    rig_.copyOut(got.data(), b.dst - guard, got.size());
    const auto elem = static_cast<size_t>(rt::dtypeSize(c.dtype));
    for (size_t i = guard; c.sumsFloats() && i + elem <= guard + b.expected.size(); i += elem)
      if (isNan(c.dtype, &got[i]) && isNan(c.dtype, &expected[i]))
        std::copy_n(&expected[i], elem, &got[i]);
    const auto at = std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin();
    if (at != static_cast<ptrdiff_t>(got.size()))
      return "member " + std::to_string(rank) + " of " + std::to_string(size_) + ": byte " +
             std::to_string(at - static_cast<ptrdiff_t>(guard)) + " of " +
             std::to_string(b.expected.size()) + " is wrong: " + c.name();
  }
  return "";
}

} // namespace coll::kernels::test
