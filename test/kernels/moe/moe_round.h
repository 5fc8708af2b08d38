// moe_round.h - one round of the token exchange in the tests: what members send and give back, the
// calls, and what has to come out of them.

#ifndef COLL_TEST_KERNELS_MOE_ROUND_H
#define COLL_TEST_KERNELS_MOE_ROUND_H

#include "runtime/exchange/moe/reference.h"
#include "test/kernels/moe/moe_team.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace coll::kernels::test {

// What one member gives back, and what it then gets.
struct MoeReturned {
  std::vector<uint16_t> rows;
  std::vector<float> rowWeights;
  std::vector<char> bias[2];
  std::vector<uint16_t> out;
  std::vector<float> outWeights;
};

// A round before anything of it is on GPUs.
struct MoeDrawn {
  rt::test::MoeSizes sizes;
  std::vector<rt::test::MoeRankCase> world;
  std::vector<rt::MoeHostReceived> received;
  std::vector<MoeReturned> returned;
  MoeShape shape;
  uint32_t combinedBytes = 0;
};

// What one member's calls of a round work on.
struct MoeMember {
  MoeLayoutArgs layout;
  MoeNotifyArgs notify;
  MoeDispatchArgs dispatch;
  MoeCombineArgs combine;
  char *buffer = nullptr;
};

// `drawn` has to outlive it.
struct MoeRound {
  const MoeDrawn &drawn;
  std::vector<MoeMember> members;
};

// `spare`: rows of the buffers beyond what comes; less than 0 for too few. Any thread.
MoeDrawn draw(const rt::test::MoeSizes &sizes, int spare, std::minstd_rand random);
// What combine makes of a round.
void sumUp(MoeDrawn &drawn);

// Takes the team's memory anew, for this round alone.
MoeRound makeRound(MoeTeam &team, const MoeDrawn &drawn, std::minstd_rand &random);
// By member. `twice`: dispatches again along the same places, without indices.
std::vector<std::vector<MoeLaunch>> launchesOf(const MoeRound &round, bool twice);

// Everything is as the reference has it; sumUp() has been called.
void expectRound(MoeTeam &team, const MoeRound &round);
template <typename T>
void expectEqual(MoeTeam &team, const char *what, const void *got, const std::vector<T> &expected) {
  EXPECT_EQ(team.get<T>(got, expected.size()), expected) << what;
}

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_MOE_ROUND_H
