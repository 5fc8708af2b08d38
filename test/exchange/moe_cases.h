// moe_cases.h - random tokens and routes for the tests of the token exchange of a mixture of
// experts.

#ifndef COLL_TEST_EXCHANGE_MOE_CASES_H
#define COLL_TEST_EXCHANGE_MOE_CASES_H

#include "runtime/exchange/moe/reference.h"

#include <cstdint>
#include <random>
#include <vector>

namespace coll::rt::test {

struct MoeSizes {
  int numRanks = 1;
  int numExperts = 1;
  int numTopk = 1;
  int64_t maxTokens = 0; // of a rank
  int64_t hidden = 8;
  CollDtype dtype = kCollBf16;
  int64_t numScales = 0;
  bool hasWeights = true;
};

// Up to 8 ranks, 16 experts each, top-k 1 to 16, `maxTokens` tokens, rows of any kind.
MoeSizes randomMoeSizes(std::minstd_rand &random, int64_t maxTokens);

// One rank's tokens, with their memory. Some tokens are dropped, completely or in part; in some
// cases few experts get most tokens; some ranks have no tokens.
struct MoeRankCase {
  std::vector<int64_t> topkIdx;
  std::vector<float> topkWeights;
  std::vector<char> x;
  std::vector<float> scales; // transposed where scaleStride is not 1
  MoeRouting routing;
  MoeTokens tokens;

  MoeDispatchCall call() const { return {routing, tokens}; }
};
std::vector<MoeRankCase> randomMoeCase(const MoeSizes &sizes, std::minstd_rand &random);
std::vector<MoeDispatchCall> callsOf(const std::vector<MoeRankCase> &ranks);

// bf16 in (-2, 2), as bytes of whole rows.
std::vector<char> randomBf16(int64_t count, std::minstd_rand &random);

} // namespace coll::rt::test

#endif // COLL_TEST_EXCHANGE_MOE_CASES_H
