// moe_low_latency_round.h - one round of the low-latency exchange in the tests: what members send
// and return, the calls, and the expected results.

#ifndef COLL_TEST_KERNELS_MOE_LOW_LATENCY_ROUND_H
#define COLL_TEST_KERNELS_MOE_LOW_LATENCY_ROUND_H

#include "runtime/exchange/moe/low_latency_reference.h"
#include "test/kernels/moe/moe_team.h"

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace coll::kernels::test {

// A round before any of it is on GPUs.
struct LowLatencyDrawn {
  bool fp8 = false, log = false;
  std::vector<rt::test::MoeRankCase> world;
  std::vector<std::vector<char>> experts; // rows that members give back
};
// The expected results.
struct LowLatencyExpected {
  std::vector<rt::MoeLowLatencyHostRows> rows;
  std::vector<std::vector<uint16_t>> sums;
};

// The two calls of a round.
struct LowLatencyRound {
  LowLatencyDrawn drawn;
  std::vector<LowLatencyDispatchArgs> dispatch; // by member
  std::vector<LowLatencyCombineArgs> combine;
};

// Two buffers of every member: [buffer][member].
using LowLatencyBuffers = std::array<std::vector<char *>, 2>;

LowLatencyShape kernelShape(const rt::MoeLowLatencyShape &shape);
LowLatencyBuffers makeBuffers(MoeTeam &team, const rt::MoeLowLatencyShape &shape);

// May be called by any thread.
LowLatencyDrawn draw(const rt::MoeLowLatencyShape &shape, uint32_t size, std::minstd_rand &random);
LowLatencyExpected expect(const LowLatencyDrawn &drawn, const rt::MoeLowLatencyShape &shape);

// Makes round `number` of the buffers, from 0.
LowLatencyRound makeRound(MoeTeam &team, const rt::MoeLowLatencyShape &shape,
                          const LowLatencyBuffers &buffers, uint32_t number, LowLatencyDrawn drawn,
                          std::minstd_rand &random);
// `apart`: sends and receives are separate launches.
template <typename Args>
void append(std::vector<MoeLaunch> &launches, Args args, bool apart) {
  if (!apart)
    return launches.push_back(args);
  args.call.phases = kLowLatencySend;
  launches.push_back(args);
  args.call.phases = kLowLatencyReceive;
  launches.push_back(args);
}

void expectRound(MoeTeam &team, const LowLatencyRound &round, const rt::MoeLowLatencyShape &shape,
                 const LowLatencyExpected &expected);
void expectRound(MoeTeam &team, const LowLatencyRound &round, const rt::MoeLowLatencyShape &shape);

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_MOE_LOW_LATENCY_ROUND_H
