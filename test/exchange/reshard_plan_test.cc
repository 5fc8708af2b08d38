// Plans compared with brute force: every needed byte comes once, from a rank that has it, and no
// other byte comes.

#include "test/exchange/reshard_cases.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace coll::rt::exchange::test {
namespace {

Bytes untouched(int64_t bytes) { return Bytes(static_cast<size_t>(bytes), kUntouched); }

// Copies a box byte by byte; each byte of the destination may be written once.
void apply(const StridedBox &box, const Bytes &src, Bytes &dst, std::vector<bool> &written) {
  for (RowCursor row(box); !row.done(); row.next())
    for (int64_t i = 0; i < box.rowBytes; ++i) {
      const auto from = static_cast<size_t>(row.src() + i), to = static_cast<size_t>(row.dst() + i);
      ASSERT_LT(from, src.size());
      ASSERT_LT(to, dst.size());
      ASSERT_FALSE(written[to]) << "byte " << to << " is written twice";
      written[to] = true;
      dst[to] = src[from];
    }
}

void execute(const ReshardSpec &spec, const ReshardPlan &plan) {
  std::vector<Bytes> sources, targets;
  for (size_t i = 0; i < spec.senders.size(); ++i)
    sources.push_back(sourceOf(spec, i, plan.senderBytes[i]));
  const bool gathers = plan.strategy == ReshardStrategy::Gather;
  std::vector<std::vector<bool>> written;
  for (size_t j = 0; j < spec.receivers.size(); ++j) {
    targets.push_back(untouched(gathers ? plan.scratchBytes : plan.receiverBytes[j]));
    written.emplace_back(targets.back().size());
  }
  int64_t wire = 0;
  for (const Transfer &transfer : plan.transfers) {
    const auto i = static_cast<size_t>(transfer.sender), j = static_cast<size_t>(transfer.receiver);
    EXPECT_EQ(transfer.isLocal, spec.senders[i].rank == spec.receivers[j].rank);
    int64_t bytes = 0;
    for (const StridedBox &box : transfer.boxes) {
      apply(box, sources[i], targets[j], written[j]);
      bytes += box.bytes();
    }
    EXPECT_EQ(bytes, transfer.bytes);
    wire += transfer.isLocal ? 0 : bytes;
  }
  EXPECT_EQ(wire, plan.wireBytes);
  for (size_t j = 0; j < spec.receivers.size(); ++j) {
    Bytes result = targets[j];
    if (gathers) {
      result = untouched(plan.receiverBytes[j]);
      std::vector<bool> sliced(result.size());
      for (const StridedBox &box : plan.slices[j])
        apply(box, targets[j], result, sliced);
    }
    ASSERT_EQ(result, expectedOf(spec, j, plan.receiverBytes[j])) << "receiver " << j;
  }
}

TEST(ReshardPlanTest, CertificatesNameLinksAndBounds) {
  // Rows of ranks 0 and 1 become columns of ranks 1 and 2.
  ReshardSpec spec;
  spec.shape = {4, 4};
  spec.senders = {{0, {{0, 0}, {2, 4}}, {}, 0}, {1, {{2, 0}, {2, 4}}, {}, 0}};
  spec.receivers = {{1, {{0, 0}, {4, 2}}, {}, 0}, {2, {{0, 2}, {4, 2}}, {}, 0}};
  const plan::RouteCertificate routed = certify(spec, planReshard(spec).take());
  EXPECT_EQ(routed.describe(), "plan routed\n"
                               "  rank 0 -> rank 1: 16 bytes\n"
                               "  into rank 1: 16 bytes, at least 16\n"
                               "  rank 0 -> rank 2: 16 bytes\n"
                               "  rank 1 -> rank 2: 16 bytes\n"
                               "  into rank 2: 32 bytes, at least 32\n"
                               "  meets the bound of every way\n");
  EXPECT_EQ(routed.busiest().rank, 2);
  const plan::RouteCertificate gather =
      certify(spec, planReshard(spec, ReshardStrategy::Gather).take());
  EXPECT_FALSE(gather.isLeast());
  EXPECT_EQ(gather.busiest().bytes, 64);
  EXPECT_NE(gather.describe().find("into rank 1: 32 bytes, at least 16\n"), std::string::npos);
  EXPECT_EQ(plan::RouteCertificate().busiest().bytes, 0);
}

TEST(ReshardPlanTest, RandomPlansMoveEveryByteOnce) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    const ReshardSpec spec = randomSpec(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(spec));
    Result<ReshardPlan> plan = planReshard(spec);
    ASSERT_TRUE(plan.ok()) << plan.status().toString();
    execute(spec, *plan);
    // A receiver gets nothing from others that its own rank holds.
    EXPECT_EQ(plan->wireBytes, plan->leastWireBytes);
    EXPECT_TRUE(certify(spec, *plan).isLeast());
    int64_t into = 0;
    for (const plan::RouteInflow &inflow : certify(spec, *plan).inflows)
      into += inflow.bytes;
    EXPECT_EQ(into, plan->wireBytes);
    Result<ReshardPlan> gather = planReshard(spec, ReshardStrategy::Gather);
    ASSERT_TRUE(gather.ok()) << gather.status().toString();
    execute(spec, *gather);
    EXPECT_EQ(gather->leastWireBytes, plan->leastWireBytes);
    if (HasFailure())
      return;
  }
}

TEST(ReshardPlanTest, PhasesArePermutations) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    Result<ReshardPlan> plan = planReshard(randomSpec(random));
    ASSERT_TRUE(plan.ok());
    std::set<std::pair<int, int>> senders, receivers;
    for (const Transfer &transfer : plan->transfers) {
      EXPECT_TRUE(senders.emplace(transfer.phase, transfer.sender).second);
      EXPECT_TRUE(receivers.emplace(transfer.phase, transfer.receiver).second);
    }
    EXPECT_TRUE(
        std::is_sorted(plan->transfers.begin(), plan->transfers.end(),
                       [](const Transfer &a, const Transfer &b) { return a.phase < b.phase; }));
  }
}

Shard shard(int rank, std::vector<int64_t> begin, std::vector<int64_t> extent) {
  return {rank, {std::move(begin), std::move(extent)}, {}, 0};
}

ReshardSpec rowsToColumns(int64_t extent) {
  ReshardSpec spec;
  spec.shape = {extent, extent};
  const int64_t half = extent / 2;
  spec.senders = {shard(0, {0, 0}, {half, extent}), shard(1, {half, 0}, {extent - half, extent})};
  spec.receivers = {shard(2, {0, 0}, {extent, half}), shard(3, {0, half}, {extent, extent - half})};
  return spec;
}

TEST(ReshardPlanTest, RowsToColumnsAreOneBoxAPair) {
  Result<ReshardPlan> plan = planReshard(rowsToColumns(100));
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->transfers.size(), 4u);
  for (const Transfer &transfer : plan->transfers) {
    ASSERT_EQ(transfer.boxes.size(), 1u);
    const StridedBox &box = transfer.boxes[0];
    EXPECT_EQ(box.numLoops, 1);
    EXPECT_EQ(box.rowBytes, 200);
    EXPECT_EQ(box.count[0], 50);
    EXPECT_EQ(box.srcStride[0], 400);
    EXPECT_EQ(box.dstStride[0], 200);
  }
  EXPECT_EQ(plan->wireBytes, 40000);
}

TEST(ReshardPlanTest, WholeContiguousShardsAreOneRow) {
  ReshardSpec spec;
  spec.shape = {6, 5, 4, 3};
  spec.senders = {shard(0, {0, 0, 0, 0}, {3, 5, 4, 3}), shard(1, {3, 0, 0, 0}, {3, 5, 4, 3})};
  spec.receivers = {shard(2, {0, 0, 0, 0}, {6, 5, 4, 3})};
  Result<ReshardPlan> plan = planReshard(spec);
  ASSERT_TRUE(plan.ok());
  for (const Transfer &transfer : plan->transfers) {
    EXPECT_EQ(transfer.boxes[0].numLoops, 0);
    EXPECT_EQ(transfer.boxes[0].rowBytes, 3 * 5 * 4 * 3 * 4);
  }
}

TEST(ReshardPlanTest, ReplicasShareTheLoad) {
  ReshardSpec spec;
  spec.shape = {64};
  for (int i = 0; i < 4; ++i) {
    spec.senders.push_back(shard(i, {i / 2 * 32}, {32}));
    spec.receivers.push_back(shard(10 + i, {0}, {64}));
  }
  Result<ReshardPlan> plan = planReshard(spec);
  ASSERT_TRUE(plan.ok());
  std::vector<int64_t> sent(4);
  for (const Transfer &transfer : plan->transfers)
    sent[static_cast<size_t>(transfer.sender)] += transfer.bytes;
  EXPECT_EQ(sent, std::vector<int64_t>(4, 2 * 32 * 4));
}

TEST(ReshardPlanTest, PiecesOfReplicasAreJoined) {
  ReshardSpec spec;
  spec.shape = {8, 8};
  // The third sender provides what the first two leave: an L-shaped region, of two boxes.
  spec.senders = {shard(0, {0, 0}, {2, 2}), shard(1, {2, 2}, {2, 2}), shard(2, {0, 0}, {8, 8})};
  spec.receivers = {shard(0, {0, 0}, {8, 2})};
  Result<ReshardPlan> plan = planReshard(spec);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->transfers.size(), 2u);
  for (const Transfer &transfer : plan->transfers)
    EXPECT_EQ(transfer.boxes.size(), 1u);
}

//===-- bad specs ---------------------------------------------------------------------===//

void expectInvalid(const ReshardSpec &spec, const std::string &text) {
  Result<ReshardPlan> plan = planReshard(spec);
  ASSERT_FALSE(plan.ok()) << text;
  EXPECT_EQ(plan.status().code(), kCollInvalidCall);
  EXPECT_NE(plan.status().message().find(text), std::string::npos) << plan.status().message();
}

TEST(ReshardPlanTest, BadSpecsAreNamed) {
  ReshardSpec spec = rowsToColumns(10);
  spec.receivers[1].region.extent[1] = 6;
  expectInvalid(spec, "receiver 1 (rank 3): dimension 1: 6 elements from 5 are not inside");
  spec = rowsToColumns(10);
  spec.senders[1].rank = 0;
  expectInvalid(spec, "sender 1 (rank 0): the rank is there twice");
  spec = rowsToColumns(10);
  spec.senders[0].rank = -4;
  expectInvalid(spec, "sender 0 (rank -4)");
  spec = rowsToColumns(10);
  spec.senders.pop_back();
  expectInvalid(spec, "receiver 0 (rank 2): no sender holds the elements [5 to 9, 0 to 4]");
  spec = rowsToColumns(10);
  spec.receivers.clear();
  expectInvalid(spec, "there is no receiver");
  spec = rowsToColumns(10);
  spec.receivers[0].strides = {1, 1};
  expectInvalid(spec, "receiver 0 (rank 2): by its strides, elements overlap");
  spec.receivers[0].strides = {4, 1}; // rows of 5 elements, one too close
  expectInvalid(spec, "receiver 0 (rank 2): by its strides, elements overlap");
  spec.receivers[0].strides = {5};
  expectInvalid(spec, "receiver 0 (rank 2): 1 strides for 2 dimensions");
  spec.receivers[0].strides = {-5, 1};
  expectInvalid(spec, "stride -5");
  spec.receivers[0].strides = {int64_t{1} << 62, 1};
  expectInvalid(spec, "larger than memory can be");
  spec.receivers[0].strides = {(int64_t{1} << 61) / 10 + 1, 1};
  expectInvalid(spec, "larger than memory can be");
  spec = rowsToColumns(10);
  spec.senders[0].offset = -1;
  expectInvalid(spec, "sender 0 (rank 0): offset -1");
  spec = rowsToColumns(10);
  spec.senders[0].region.begin.pop_back();
  expectInvalid(spec, "sender 0 (rank 0): its region has 1 begins");
  spec = rowsToColumns(10);
  spec.dtype = static_cast<CollDtype>(15);
  expectInvalid(spec, "dtype 15");
  spec = rowsToColumns(10);
  spec.shape.assign(9, 1);
  expectInvalid(spec, "9 dimensions");
  spec.shape = {-1, 4};
  expectInvalid(spec, "extent of -1");
  spec.shape = {int64_t{1} << 40, int64_t{1} << 40};
  expectInvalid(spec, "more elements than memory can hold");
}

// The bytes of each shard fit into the type, but not those of all together.
TEST(ReshardPlanTest, SumsThatCannotBeCountedAreRefused) {
  constexpr int64_t kMost = INT64_MAX / 8;
  ReshardSpec spec;
  spec.dtype = kCollF64;
  spec.shape = {kMost};
  spec.senders = {shard(0, {0}, {kMost})};
  spec.receivers = {shard(1, {0}, {kMost})};
  Result<ReshardPlan> plan = planReshard(spec);
  ASSERT_TRUE(plan.ok()) << plan.status().toString();
  EXPECT_EQ(plan->wireBytes, 8 * kMost);
  EXPECT_TRUE(planReshard(spec, ReshardStrategy::Gather).ok());
  spec.receivers.push_back(shard(2, {0}, {kMost}));
  expectInvalid(spec, "the receivers take more bytes together than can be counted");
  // With routes these two fit, but not if each receives everything.
  for (Shard &receiver : spec.receivers)
    receiver.region.extent = {1};
  EXPECT_TRUE(planReshard(spec).ok());
  EXPECT_EQ(planReshard(spec, ReshardStrategy::Gather).status().message(),
            "the receivers take more bytes together than can be counted");
}

TEST(ReshardPlanTest, ShardsOfWhatCannotBeAreRefused) {
  TensorInfo info;
  info.shape = {int64_t{1} << 40, int64_t{1} << 40, 8};
  info.sharding.resize(3);
  ReshardSpec spec;
  spec.shape = info.shape;
  spec.senders = spec.receivers = shardsOf(info, {{"x", 2}}, {0, 1});
  expectInvalid(spec, "more elements than memory can hold");
}

} // namespace
} // namespace coll::rt::exchange::test
