// Gathering and merging, emulated and on GPUs: runs of random tokens, and sums of random nodes, bit
// for bit; nothing around them is written; refusals.

#include "runtime/base/narrow.h"
#include "test/kernels/moe/moe_team.h"

#include <algorithm>
#include <cstring>

namespace coll::kernels::test {
namespace {

constexpr uint64_t kBeyondBytes = 512;
constexpr char kJunk = 0x5a;

size_t at(uint64_t index) { return static_cast<size_t>(index); }

std::vector<float> randomFloats(uint64_t count, std::minstd_rand &random) {
  std::vector<float> values(at(count));
  for (float &value : values)
    value = static_cast<float>(static_cast<int32_t>(random() % 4001) - 2000) / 1024;
  return values;
}

class MoeRelayTest : public MoeRigTest {
protected:
  MoeTeam team() {
    rig_->recycle();
    return {*rig_, 1, onGpu() ? uint64_t{64} << 20 : uint64_t{2} << 20, 1000000000};
  }
  int rounds() const { return onGpu() && !slow_ ? 200 : 30; }
  uint32_t most() const { return onGpu() && !slow_ ? 700 : 60; } // tokens
};

// --- gather

struct Gathering {
  MoeGatherArgs args;
  std::vector<int32_t> tokens;
  std::vector<char> x;
  std::vector<int64_t> topkIdx;
  std::vector<float> topkWeights, scales;
  char *to = nullptr; // in memory of the GPU, or pinned memory, with kBeyondBytes more
};

Gathering randomGathering(MoeTeam &team, uint32_t most, bool pinned, std::minstd_rand &random) {
  Gathering g;
  MoeGatherArgs &args = g.args;
  args.record.rowBytes = 16 * (1 + static_cast<uint32_t>(random() % 70));
  args.record.numTopk = random() % 4 ? static_cast<uint32_t>(random() % 33) : 0;
  args.record.numScales = random() % 2 ? static_cast<uint32_t>(random() % 70) : 0;
  const auto tokens = static_cast<uint32_t>(1 + random() % most);
  args.count = static_cast<uint32_t>(random() % (tokens + 1));
  args.blocks = static_cast<uint32_t>(random() % 3) * 17;
  // Any tokens, in any order.
  for (uint32_t i = 0; i < args.count; ++i)
    g.tokens.push_back(static_cast<int32_t>(random() % tokens));
  g.x.resize(at(uint64_t{tokens} * args.record.rowBytes));
  for (char &byte : g.x)
    byte = static_cast<char>(random());
  for (uint64_t i = 0; i < uint64_t{tokens} * args.record.numTopk; ++i)
    g.topkIdx.push_back(static_cast<int64_t>(random() % 300) - 1);
  if (random() % 2)
    g.topkWeights = randomFloats(g.topkIdx.size(), random);
  g.scales = randomFloats(uint64_t{tokens} * args.record.numScales, random);
  const bool isTransposed = random() % 2;
  args.scaleTokenStride = isTransposed ? 1 : args.record.numScales;
  args.scaleStride = isTransposed ? tokens : 1;
  args.tokens = team.put(0, g.tokens);
  args.x = team.put(0, g.x);
  args.topkIdx = team.put(0, g.topkIdx);
  args.topkWeights = g.topkWeights.empty() ? nullptr : team.put(0, g.topkWeights);
  args.scales = team.put(0, g.scales);
  const uint64_t bytes = moeRun(args.record, args.count).bytes + kBeyondBytes;
  g.to = pinned ? static_cast<char *>(team.rig().pinned(bytes)) : team.room<char>(0, bytes);
  if (pinned)
    std::memset(g.to, kJunk, bytes);
  args.to = g.to;
  return g;
}

// The bytes between two arrays are undefined.
void expectGathered(MoeTeam &team, const Gathering &g) {
  const MoeGatherArgs &args = g.args;
  const MoeRecord &record = args.record;
  const MoeRun run = moeRun(record, args.count);
  const std::vector<char> got = team.get<char>(g.to, run.bytes + kBeyondBytes);
  const auto expectAt = [&](const char *what, uint64_t place, const void *expected, size_t bytes) {
    EXPECT_TRUE(bytes == 0 || std::memcmp(got.data() + place, expected, bytes) == 0) << what;
  };
  for (uint64_t i = 0; i < args.count; ++i) {
    const auto token = at(static_cast<uint64_t>(g.tokens[at(i)]));
    const size_t topk = record.numTopk;
    expectAt("row", run.rows + i * record.rowBytes, g.x.data() + token * record.rowBytes,
             record.rowBytes);
    expectAt("topkIdx", run.topkIdx + i * topk * 8, g.topkIdx.data() + token * topk, topk * 8);
    const std::vector<float> none(topk, 0);
    expectAt("topkWeights", run.topkWeights + i * topk * 4,
             args.topkWeights ? g.topkWeights.data() + token * topk : none.data(), topk * 4);
    std::vector<float> scales;
    for (uint32_t s = 0; s < record.numScales; ++s)
      scales.push_back(g.scales[token * at(static_cast<uint64_t>(args.scaleTokenStride)) +
                                s * at(static_cast<uint64_t>(args.scaleStride))]);
    expectAt("scales", run.scales + i * record.numScales * 4, scales.data(), scales.size() * 4);
  }
  EXPECT_EQ(std::count(got.end() - kBeyondBytes, got.end(), kJunk), long{kBeyondBytes});
}

TEST_P(MoeRelayTest, RunsHaveTheirTokens) {
  std::minstd_rand random(41);
  MoeTeam one = team();
  for (int round = 0; round < rounds() && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    one.clear();
    // Pinned memory is not freed in between.
    const Gathering g = randomGathering(one, most(), round < 8, random);
    const rt::Status status = one.run({{g.args}}, random());
    ASSERT_TRUE(status.ok()) << status.toString();
    expectGathered(one, g);
  }
}

// --- merge

struct Merging {
  MoeMergeArgs args;
  std::vector<int32_t> places;
  std::vector<uint16_t> rows, bias[2], out;
  std::vector<float> weights, outWeights;
};

std::vector<uint16_t> randomElems(uint64_t count, std::minstd_rand &random) {
  std::vector<uint16_t> values;
  for (float value : randomFloats(count, random))
    values.push_back(rt::f32ToBf16(value));
  return values;
}

// With `sparse` tokens have one row or none.
Merging randomMerging(MoeTeam &team, uint32_t most, bool sparse, std::minstd_rand &random) {
  Merging m;
  MoeMergeArgs &args = m.args;
  args.rowBytes = 16 * (1 + static_cast<uint32_t>(random() % 70));
  args.numTopk = random() % 4 ? static_cast<uint32_t>(random() % 33) : 0;
  args.numTokens = static_cast<uint32_t>(random() % (most + 1));
  args.numNodes = sparse ? 1 : 1 + static_cast<uint32_t>(random() % 5);
  args.node =
      !sparse && random() % 5 ? static_cast<uint32_t>(random() % args.numNodes) : kMoeNoNode;
  args.blocks = static_cast<uint32_t>(random() % 3) * 17;
  const uint32_t rows = 1 + static_cast<uint32_t>(random() % most);
  for (uint32_t i = 0; i < args.numTokens * args.numNodes; ++i)
    m.places.push_back(random() % 3 ? static_cast<int32_t>(random() % rows) : -1);
  const uint64_t elems = args.rowBytes / 2;
  m.rows = randomElems(rows * elems, random);
  m.weights = randomFloats(uint64_t{rows} * args.numTopk, random);
  m.out = randomElems(args.numTokens * elems, random);
  m.outWeights = randomFloats(uint64_t{args.numTokens} * args.numTopk, random);
  args.places = team.put(0, m.places);
  args.rows = team.put(0, m.rows);
  args.weights = team.put(0, m.weights);
  for (int b = 0; b < 2; ++b)
    if (!sparse && random() % 2) {
      m.bias[b] = randomElems(args.numTokens * elems, random);
      args.bias[b] = team.put(0, m.bias[b]);
    }
  args.out = team.put(0, m.out);
  (void)team.take(0, kBeyondBytes);
  args.outWeights = team.put(0, m.outWeights);
  (void)team.take(0, kBeyondBytes);
  return m;
}

// Biases are added first, then nodes in their order. A sum of one row has its bits, a sum of none
// is 0.
void mergeOnHost(Merging &m) {
  const MoeMergeArgs &args = m.args;
  const size_t elems = args.rowBytes / 2, topk = args.numTopk;
  for (size_t t = 0; t < args.numTokens; ++t) {
    const auto visit = [&](auto own, auto other) {
      for (uint32_t n = 0; n < args.numNodes; ++n)
        if (const int32_t place = m.places[t * args.numNodes + n]; n == args.node)
          own();
        else if (place >= 0)
          other(at(static_cast<uint64_t>(place)));
    };
    bool isEmpty = m.bias[0].empty() && m.bias[1].empty();
    visit([&] { isEmpty = false; }, [&](size_t) { isEmpty = false; });
    for (size_t i = 0; i < elems; ++i) {
      uint16_t &out = m.out[t * elems + i];
      float sum = isEmpty ? 0.0f : -0.0f;
      for (const std::vector<uint16_t> &bias : m.bias)
        if (!bias.empty())
          sum += rt::bf16ToF32(bias[t * elems + i]);
      visit([&] { sum += rt::bf16ToF32(out); },
            [&](size_t place) { sum += rt::bf16ToF32(m.rows[place * elems + i]); });
      out = rt::f32ToBf16(sum);
    }
    for (size_t k = 0; k < topk; ++k) {
      float &out = m.outWeights[t * topk + k];
      float sum = 0;
      visit([&] { sum += out; }, [&](size_t place) { sum += m.weights[place * topk + k]; });
      out = sum;
    }
  }
}

TEST_P(MoeRelayTest, SumsOfNodesAreAddedUp) {
  std::minstd_rand random(42);
  MoeTeam one = team();
  for (int round = 0; round < rounds() && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    one.clear();
    Merging m = randomMerging(one, most(), round % 8 == 7, random);
    const rt::Status status = one.run({{m.args}}, random());
    ASSERT_TRUE(status.ok()) << status.toString();
    mergeOnHost(m);
    EXPECT_EQ(one.get<uint16_t>(m.args.out, m.out.size()), m.out);
    EXPECT_EQ(one.get<float>(m.args.outWeights, m.outWeights.size()), m.outWeights);
    const auto expectJunk = [&](const char *from) {
      const std::vector<char> beyond = one.get<char>(from, kBeyondBytes);
      EXPECT_EQ(std::count(beyond.begin(), beyond.end(), kJunk), long{kBeyondBytes});
    };
    expectJunk(static_cast<char *>(m.args.out) + m.out.size() * 2);
    expectJunk(reinterpret_cast<char *>(m.args.outWeights) + m.outWeights.size() * 4);
  }
}

// --- refusals

TEST_P(MoeRelayTest, BadArgumentsAreRefusedByName) {
  MoeTeam one = team();
  alignas(16) static char memory[64];
  MoeGatherArgs gather;
  gather.record = {16, 2, 1};
  gather.count = 1;
  gather.tokens = reinterpret_cast<int32_t *>(memory);
  gather.x = gather.to = memory;
  gather.topkIdx = reinterpret_cast<int64_t *>(memory);
  gather.scales = reinterpret_cast<float *>(memory);
  MoeMergeArgs merge;
  merge.rowBytes = 16;
  merge.numTopk = merge.numTokens = 1;
  merge.places = gather.tokens;
  merge.rows = merge.out = memory;
  merge.weights = merge.outWeights = reinterpret_cast<float *>(memory);
  // The launchers refuse before anything is launched.
  const auto refusal = [&](auto args, auto change) {
    change(args);
    return one.run({{args}}, 1).message();
  };
  EXPECT_EQ(refusal(gather, [](auto &a) { a.record.rowBytes = 24; }),
            "moe relay: a row has 24 bytes");
  EXPECT_EQ(refusal(gather, [](auto &a) { a.record.numTopk = 33; }),
            "moe relay: 1 tokens with 33 experts");
  EXPECT_EQ(refusal(gather, [](auto &a) { a.count = UINT32_MAX; }),
            "moe relay: 4294967295 tokens with 2 experts");
  EXPECT_EQ(refusal(gather, [](auto &a) { a.to += 8; }),
            "moe relay: `x` or `to` is null or not aligned to 16 bytes");
  for (auto change : {+[](MoeGatherArgs &a) { a.tokens = nullptr; },
                      +[](MoeGatherArgs &a) { a.topkIdx = nullptr; },
                      +[](MoeGatherArgs &a) { a.scales = nullptr; }})
    EXPECT_EQ(refusal(gather, change), "moe relay: a pointer of the gathering is null");
  EXPECT_EQ(refusal(merge, [](auto &a) { a.node = 1; }), "moe relay: node 1 of 1");
  EXPECT_EQ(refusal(merge, [](auto &a) { a.bias[1] = memory + 4; }),
            "moe relay: `bias` is not aligned to 16 bytes");
  for (auto change :
       {+[](MoeMergeArgs &a) { a.out = nullptr; }, +[](MoeMergeArgs &a) { a.places = nullptr; },
        +[](MoeMergeArgs &a) { a.weights = nullptr; }})
    EXPECT_EQ(refusal(merge, change),
              "moe relay: a pointer of the merging is null or not aligned to 16 bytes");
}

INSTANTIATE_TEST_SUITE_P(host, MoeRelayTest, testing::Values("host"));
INSTANTIATE_TEST_SUITE_P(cuda, MoeRelayTest, testing::Values("cuda"));

} // namespace
} // namespace coll::kernels::test
