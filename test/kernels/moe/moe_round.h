// moe_round.h - one round of the token exchange in the tests: what members send and return, the
// calls, and the expected results.

#ifndef COLL_TEST_KERNELS_MOE_ROUND_H
#define COLL_TEST_KERNELS_MOE_ROUND_H

#include "runtime/exchange/moe/reference.h"
#include "test/kernels/moe/moe_team.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace coll::kernels::test {

// What one member returns, and what it then receives.
struct MoeReturned {
  std::vector<uint16_t> rows;
  std::vector<float> rowWeights;
  std::vector<char> bias[2];
  std::vector<uint16_t> out;
  std::vector<float> outWeights;
};

// A round before any of it is on GPUs.
struct MoeDrawn {
  rt::test::MoeSizes sizes;
  std::vector<rt::test::MoeRankCase> world;
  std::vector<rt::MoeHostReceived> received;
  std::vector<MoeReturned> returned;
  MoeShape shape;
  uint32_t combinedBytes = 0;   // of a row
  CollDtype summed = kCollBf16; // of the rows that are added up
};

// The memory of one member's calls in a round.
struct MoeMember {
  MoeLayoutArgs layout;
  MoeNotifyArgs notify;
  MoeDispatchArgs dispatch;
  MoeCombineArgs combine;
  char *buffer = nullptr;
};

// `drawn` must outlive it.
struct MoeRound {
  const MoeDrawn &drawn;
  std::vector<MoeMember> members;
};

// `spare`: rows of the buffers in addition to those that arrive; negative for too few. May be
// called by any thread.
MoeDrawn draw(const rt::test::MoeSizes &sizes, int spare, std::minstd_rand random);
// Computes the expected result of the combine.
void sumUp(MoeDrawn &drawn);

// Allocates all of the team's memory again, for this round only.
MoeRound makeRound(MoeTeam &team, const MoeDrawn &drawn, std::minstd_rand &random);
// Returns the launches by member. `twice`: dispatches again to the same places, without indices.
std::vector<std::vector<MoeLaunch>> launchesOf(const MoeRound &round, bool twice);

// Compares everything with the reference; call sumUp() before.
void expectRound(MoeTeam &team, const MoeRound &round);
template <typename T>
void expectEqual(MoeTeam &team, const char *what, const void *got, const std::vector<T> &expected) {
  EXPECT_EQ(team.get<T>(got, expected.size()), expected) << what;
}

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_MOE_ROUND_H
