#include "test/exchange/moe_cases.h"

#include "runtime/base/dtype.h"
#include "test/fuzz/random.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace coll::rt::test {

namespace {

template <typename T>
T pick(std::minstd_rand &random, T from, T to) {
  return std::uniform_int_distribution<T>(from, to)(random);
}

float fraction(std::minstd_rand &random) {
  return std::uniform_real_distribution<float>(0, 1)(random);
}

// Draws `numTopk` different experts from the first `among`; -1 if there are no more, or by chance.
void route(int64_t *row, int numTopk, int among, float dropped, std::minstd_rand &random) {
  std::vector<int64_t> experts(static_cast<size_t>(among));
  for (int e = 0; e < among; ++e)
    experts[static_cast<size_t>(e)] = e;
  std::shuffle(experts.begin(), experts.end(), random);
  for (int k = 0; k < numTopk; ++k)
    row[k] = k < among && fraction(random) >= dropped ? experts[static_cast<size_t>(k)] : -1;
}

} // namespace

MoeSizes randomMoeSizes(std::minstd_rand &random, int64_t maxTokens) {
  MoeSizes sizes;
  sizes.numRanks = pick(random, 1, 8);
  sizes.numExperts = sizes.numRanks * pick(random, 1, 16);
  sizes.numTopk = pick(random, 1, 16);
  sizes.maxTokens = pick<int64_t>(random, 0, maxTokens);
  sizes.hidden = 16 * pick<int64_t>(random, 1, 20);
  sizes.dtype =
      std::array{kCollBf16, kCollBf16, kCollF8E4M3FN, kCollF8E5M2}[pick<size_t>(random, 0, 3)];
  sizes.numScales = sizes.dtype == kCollBf16 ? 0 : pick<int64_t>(random, 0, sizes.hidden / 8);
  sizes.hasWeights = pick(random, 0, 3) != 0;
  return sizes;
}

std::vector<char> randomBf16(int64_t count, std::minstd_rand &random) {
  fuzz::Random fast(random());
  std::vector<char> bytes(static_cast<size_t>(count) * sizeof(uint16_t));
  for (size_t at = 0; at < bytes.size();) {
    uint64_t bits = fast.next();
    for (int i = 0; i < 4 && at < bytes.size(); ++i, bits >>= 16, at += sizeof(uint16_t)) {
      const uint16_t value = f32ToBf16(static_cast<float>(static_cast<int16_t>(bits)) / 0x1p14f);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  }
  return bytes;
}

std::vector<MoeRankCase> randomMoeCase(const MoeSizes &sizes, std::minstd_rand &random) {
  std::vector<MoeRankCase> ranks(static_cast<size_t>(sizes.numRanks));
  const int among = pick(random, 0, 3) ? sizes.numExperts : pick(random, 1, sizes.numExperts);
  const float dropped = pick(random, 0, 1) ? 0 : fraction(random);
  for (MoeRankCase &rank : ranks) {
    const int64_t numTokens =
        pick(random, 0, 7) ? pick<int64_t>(random, 0, sizes.maxTokens) : int64_t{0};
    rank.topkIdx.resize(static_cast<size_t>(numTokens * sizes.numTopk));
    rank.topkWeights.resize(rank.topkIdx.size());
    for (int64_t t = 0; t < numTokens; ++t)
      route(rank.topkIdx.data() + t * sizes.numTopk, sizes.numTopk, among, dropped, random);
    for (float &weight : rank.topkWeights)
      weight = fraction(random);
    rank.x = randomBf16((numTokens * sizes.hidden * dtypeSize(sizes.dtype) + 1) / 2, random);
    const bool transposed = pick(random, 0, 1);
    rank.scales.resize(static_cast<size_t>(numTokens * sizes.numScales));
    for (float &scale : rank.scales)
      scale = fraction(random);
    rank.routing = {rank.topkIdx.data(), numTokens, sizes.numTopk, sizes.numExperts};
    rank.tokens.x = rank.x.data();
    rank.tokens.hidden = sizes.hidden;
    rank.tokens.dtype = sizes.dtype;
    rank.tokens.topkWeights = sizes.hasWeights ? rank.topkWeights.data() : nullptr;
    rank.tokens.scales = sizes.numScales ? rank.scales.data() : nullptr;
    rank.tokens.numScales = sizes.numScales;
    rank.tokens.scaleTokenStride = transposed ? 1 : sizes.numScales;
    rank.tokens.scaleStride = transposed ? numTokens : 1;
  }
  return ranks;
}

std::vector<MoeDispatchCall> callsOf(const std::vector<MoeRankCase> &ranks) {
  std::vector<MoeDispatchCall> calls;
  for (const MoeRankCase &rank : ranks)
    calls.push_back(rank.call());
  return calls;
}

} // namespace coll::rt::test
