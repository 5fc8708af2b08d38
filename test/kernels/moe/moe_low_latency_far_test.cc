// The kernels of the low-latency exchange between nodes, emulated and on GPUs, compared with the
// reference: rounds in a row, with a network that is simulated between the launches; shapes that
// need less room than there is; messages that do not arrive or belong to another call.
//
// If each member is a node, it does not wait for others in a launch, so sanitizer tools can check
// all of this, too.

#include "runtime/kernels/error_word.h"
#include "test/kernels/moe/moe_far_network.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

namespace coll::kernels::test {
namespace {

using rt::MoeLowLatencyShape;

constexpr uint64_t kSecond = 1000000000;

class LowLatencyFarTest : public MoeRigTest {
protected:
  MoeTeam team(uint32_t size, uint32_t nodeSize, uint64_t timeoutNs = 20 * kSecond) {
    rig_->recycle();
    return {*rig_, size, uint64_t{12} << 20, timeoutNs, nodeSize};
  }
};

MoeLowLatencyShape randomShape(uint32_t size, std::minstd_rand &random) {
  MoeLowLatencyShape shape;
  shape.hidden = 128 * (1 + static_cast<int64_t>(random() % 3));
  shape.numExperts = static_cast<int>(size * (1 + random() % 4));
  shape.numTopk = 1 + static_cast<int>(random() % 8);
  shape.maxTokens = 1 + static_cast<int64_t>(random() % 12);
  return shape;
}

// A team's buffers, and the network between its nodes.
struct World {
  World(MoeTeam &of, const MoeLowLatencyShape &with, const MoeLowLatencyShape &room)
      : team(of), shape(with), buffers(makeBuffers(of, with)), network(of, room) {}
  World(MoeTeam &of, const MoeLowLatencyShape &with) : World(of, with, with) {}

  LowLatencyRound round(uint32_t number, std::minstd_rand &random) {
    LowLatencyRound round =
        makeRound(team, shape, buffers, number, draw(shape, team.size(), random), random);
    for (uint32_t i = 0; i < team.size(); ++i) {
      round.dispatch[i].call.far = network.of(i, 0);
      round.combine[i].call.far = network.of(i, 1);
    }
    return round;
  }
  // Runs one phase on all members.
  template <typename Args>
  void run(const std::vector<Args> &calls, LowLatencyPhase phase, uint64_t seed) {
    std::vector<std::vector<MoeLaunch>> launches;
    for (Args args : calls) {
      args.call.phases = phase;
      launches.push_back({args});
    }
    const rt::Status status = team.run(launches, seed);
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  // Makes call `number` of a buffer, from 1.
  template <typename Args>
  void play(const std::vector<Args> &calls, uint32_t buffer, uint32_t number, uint64_t seed) {
    run(calls, kLowLatencySend, seed);
    network.carry(shape, buffer, number);
    run(calls, kLowLatencyReceive, seed + 1);
    for (uint32_t i = 0; i < team.size(); ++i)
      EXPECT_EQ(network.word(i, buffer, network.area(i).taken, 0), number) << i;
  }

  MoeTeam &team;
  MoeLowLatencyShape shape;
  LowLatencyBuffers buffers;
  FarNetwork network;
};

void playRounds(World &world, std::minstd_rand &random) {
  for (uint32_t n = 0; n < 3 && !testing::Test::HasFailure(); ++n) {
    SCOPED_TRACE("round " + std::to_string(n));
    const LowLatencyRound round = world.round(n, random);
    world.play(round.dispatch, 0, n + 1, random());
    world.play(round.combine, 1, n + 1, random());
    expectRound(world.team, round, world.shape);
  }
}

struct Nodes {
  uint32_t size, nodeSize;
};
constexpr Nodes kNodes[] = {{2, 1}, {3, 1}, {8, 1}, {4, 2}, {5, 2}, {6, 3}, {8, 4}};

TEST_P(LowLatencyFarTest, RoundsInARowAreThoseOfTheReference) {
  std::minstd_rand random(51);
  for (const auto &[size, nodeSize] : kNodes) {
    // Under a tool, members that share a GPU do not run concurrently.
    if (slow_ && nodeSize > 1)
      continue;
    for (int w = 0; w < (onGpu() && !slow_ ? 20 : 1) && !HasFailure(); ++w) {
      SCOPED_TRACE(std::to_string(size) + " members, " + std::to_string(nodeSize) +
                   " a node, world " + std::to_string(w));
      MoeTeam members = team(size, nodeSize);
      World world(members, randomShape(size, random));
      playRounds(world, random);
    }
  }
}

// As after lowLatencyClean(): the memory between nodes was made for another shape.
TEST_P(LowLatencyFarTest, ShapesThatTakeLessRoomThanThereIs) {
  std::minstd_rand random(52);
  const uint32_t size = 4, nodeSize = slow_ ? 1 : 2;
  const MoeLowLatencyShape room = {24, 384, 6, 3 * static_cast<int>(size)};
  for (const MoeLowLatencyShape &shape :
       {MoeLowLatencyShape{30, 128, 3, 2 * static_cast<int>(size)},
        MoeLowLatencyShape{5, 384, 6, 4 * static_cast<int>(size)},
        MoeLowLatencyShape{24, 256, 1, static_cast<int>(size)}}) {
    SCOPED_TRACE(shape.maxTokens);
    MoeTeam members = team(size, nodeSize);
    World world(members, shape, room);
    playRounds(world, random);
  }
}

// --- faults

// Two nodes with one member each, and a first round.
struct Two {
  Two(MoeTeam &team, uint32_t seed)
      : random(seed), world(team, {20, 256, 4, 4}), round(world.round(0, random)) {}

  std::minstd_rand random;
  World world;
  LowLatencyRound round;
};

void expectError(const MoeTeam &team, uint32_t member, const std::string &text) {
  EXPECT_EQ(describeErrorWord(team.error(member)), text);
}

TEST_P(LowLatencyFarTest, AMessageThatDoesNotComeEndsTheWait) {
  MoeTeam members = team(2, 1, kSecond / 5);
  Two two(members, 53);
  two.world.run(two.round.dispatch, kLowLatencySend, 1);
  two.world.network.carry(two.world.shape, 0, 1, 0, 1);
  two.world.run(two.round.dispatch, kLowLatencyReceive, 2);
  expectError(members, 0, "rank 1, or its data, did not arrive before the deadline");
  EXPECT_EQ(members.error(1), 0u) << describeErrorWord(members.error(1));
}

TEST_P(LowLatencyFarTest, AMessageThatIsNotGoneIsNotWrittenOver) {
  MoeTeam members = team(2, 1, kSecond / 5);
  Two two(members, 54);
  two.world.play(two.round.dispatch, 0, 1, 1);
  FarNetwork &network = two.world.network;
  network.word(0, 0, network.area(0).sent, 1) = 0;
  const char *message = network.messageTo(0, 0, 1);
  const std::vector<char> before(message, message + network.area(0).messageBytes);
  two.world.run(two.round.dispatch, kLowLatencySend, 2);
  expectError(members, 0, "rank 1, or its data, did not arrive before the deadline");
  EXPECT_EQ(std::memcmp(message, before.data(), before.size()), 0);
  EXPECT_EQ(network.word(0, 0, network.area(0).rung, 1), 1u);
}

TEST_P(LowLatencyFarTest, AnotherCallsMessageIsFound) {
  MoeTeam members = team(2, 1, kSecond);
  Two two(members, 55);
  std::vector<LowLatencyDispatchArgs> calls = two.round.dispatch;
  calls[1].fp8 = !calls[0].fp8;
  two.world.run(calls, kLowLatencySend, 1);
  two.world.network.carry(two.world.shape, 0, 1);
  two.world.run(calls, kLowLatencyReceive, 2);
  expectError(members, 0, "rank 1 makes another call");
  expectError(members, 1, "rank 0 makes another call");
}

// The host announces rows as the other rank reports them.
TEST_P(LowLatencyFarTest, ARowThatIsNotInTheMessageIsFound) {
  MoeTeam members = team(2, 1, kSecond);
  Two two(members, 56);
  for (uint32_t i = 0; i < 2; ++i) {
    // All tokens go to the other rank.
    auto &from = two.round.drawn.world[i];
    std::fill(from.topkIdx.begin(), from.topkIdx.end(), -1);
    for (int64_t t = 0; t < from.routing.numTokens; ++t)
      from.topkIdx[static_cast<size_t>(t * from.routing.numTopk)] = 2 * (1 - i);
    two.round.dispatch[i].call.topkIdx = two.round.combine[i].call.topkIdx =
        members.put(i, from.topkIdx);
  }
  two.world.play(two.round.dispatch, 0, 1, 1);
  two.world.run(two.round.combine, kLowLatencySend, 2);
  FarNetwork &network = two.world.network;
  network.carry(two.world.shape, 1, 1);
  const auto words = static_cast<size_t>(two.world.shape.maxTokens * two.world.shape.numTopk);
  std::fill_n(&network.word(0, 1, network.area(0).returns, 0), words, 0);
  two.world.run(two.round.combine, kLowLatencyReceive, 3);
  if (two.round.dispatch[0].call.numTokens > 0)
    expectError(members, 0, "rank 1 makes another call");
  EXPECT_EQ(members.error(1), 0u) << describeErrorWord(members.error(1));
}

// Handles with ranges that do not exist: a message has as many rows as it has room for, and nothing
// behind it is touched.
TEST_P(LowLatencyFarTest, WrongHandlesTouchNothingOutside) {
  MoeTeam members = team(2, 1, kSecond);
  Two two(members, 57);
  two.world.play(two.round.dispatch, 0, 1, 1);
  FarNetwork &network = two.world.network;
  for (uint32_t i = 0; i < 2; ++i) {
    LowLatencyCombineArgs &c = two.round.combine[i];
    c.log = false;
    c.from.ranges = members.put(i, std::vector<uint64_t>(4, 20));
    c.from.sources = members.put(i, std::vector<uint32_t>(80, 0x00030013u));
    std::memset(network.messageFrom(i, 1, 1 - i), 0x5a, network.area(i).messageBytes);
  }
  two.world.run(two.round.combine, kLowLatencySend, 2);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(members.error(i), 0u) << describeErrorWord(members.error(i));
    LowLatencyMessage header;
    std::memcpy(&header, network.messageTo(i, 1, 1 - i), sizeof header);
    EXPECT_EQ(header.rows, 40u);
    const char *in = network.messageFrom(i, 1, 1 - i);
    EXPECT_EQ(std::count(in, in + network.area(i).messageBytes, 0x5a),
              static_cast<long>(network.area(i).messageBytes));
  }
}

TEST_P(LowLatencyFarTest, BadArgumentsAreRefusedByName) {
  MoeTeam members = team(4, 2);
  std::minstd_rand random(58);
  World world(members, {20, 256, 4, 8});
  const LowLatencyRound round = world.round(0, random);
  const auto refusal = [&](auto change) {
    LowLatencyDispatchArgs args = round.dispatch[3];
    change(args.call);
    return checkLowLatencyDispatch(members.group(3), args).message();
  };
  EXPECT_EQ(refusal([](auto &) {}), "");
  EXPECT_EQ(refusal([](auto &c) { c.far.memory = nullptr; }),
            "moe low latency: the memory for other nodes is null or not aligned to 16 bytes "
            "(member 1)");
  EXPECT_EQ(refusal([](auto &c) { c.far.firstRank = 3; }),
            "moe low latency: members are ranks from 3 on of 4; there are at most 128 (member 1)");
  EXPECT_EQ(refusal([](auto &c) { c.far.numRanks = 129; }),
            "moe low latency: members are ranks from 2 on of 129; there are at most 128 (member "
            "1)");
  const char *noRoom =
      "moe low latency: the memory for other nodes has no room for messages of this shape (member "
      "1)";
  EXPECT_EQ(refusal([](auto &c) { c.shape.hidden += 128; }), noRoom);
  EXPECT_EQ(refusal([](auto &c) {
              c.shape.numTopk *= 8;
              c.shape.maxTokens -= 1;
            }),
            noRoom);
}

INSTANTIATE_TEST_SUITE_P(host, LowLatencyFarTest, testing::Values("host"));
INSTANTIATE_TEST_SUITE_P(cuda, LowLatencyFarTest, testing::Values("cuda"));

} // namespace
} // namespace coll::kernels::test
