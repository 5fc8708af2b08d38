#include "runtime/step/crew.h"
#include "test/runtime/fixtures.h"

#include <cfenv>
#include <gtest/gtest.h>

namespace coll::rt {
namespace {

class CrewTest : public testing::TestWithParam<Crew::First> {};
INSTANTIATE_TEST_SUITE_P(First, CrewTest,
                         testing::Values(Crew::First::Thread, Crew::First::Caller));

TEST_P(CrewTest, EveryMemberRunsEachTaskOnceAndRunWaitsForAll) {
  constexpr int kRounds = 200;
  for (int size : {1, 2, 5}) {
    std::unique_ptr<Crew> crew = Crew::create(size, GetParam()).take();
    std::vector<int> counts(static_cast<size_t>(size)); // no atomics: run() orders the accesses
    for (int round = 0; round < kRounds; ++round) {
      crew->run([&](int i) { ++counts[static_cast<size_t>(i)]; });
      EXPECT_EQ(counts, std::vector<int>(static_cast<size_t>(size), round + 1));
    }
  }
}

TEST_P(CrewTest, SleepingMembersWake) {
  std::unique_ptr<Crew> crew = Crew::create(3, GetParam()).take();
  std::vector<int> counts(3);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // longer than members poll
    crew->run([&](int i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 * i));
      ++counts[static_cast<size_t>(i)];
    });
  }
  EXPECT_EQ(counts, std::vector<int>(3, 3));
}

TEST_P(CrewTest, MembersKeepTheirThreads) {
  std::unique_ptr<Crew> crew = Crew::create(3, GetParam()).take();
  std::vector<std::thread::id> first(3), second(3);
  crew->run([&](int i) { first[static_cast<size_t>(i)] = std::this_thread::get_id(); });
  crew->run([&](int i) { second[static_cast<size_t>(i)] = std::this_thread::get_id(); });
  EXPECT_EQ(first, second);
  EXPECT_EQ(first[0] == std::this_thread::get_id(), GetParam() == Crew::First::Caller);
}

TEST_P(CrewTest, AllMembersRoundAlike) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  std::unique_ptr<Crew> crew =
      Crew::create(2, GetParam()).take(); // threads begin as their maker is
  std::vector<int> modes(2);
  crew->run([&](int i) { modes[static_cast<size_t>(i)] = std::fegetround(); });
  EXPECT_EQ(std::fegetround(), FE_UPWARD); // the caller's own is as it was
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(modes, std::vector<int>(2, FE_TONEAREST));
}

TEST(CrewEnd, NeedsNoRun) { (void)Crew::create(4, Crew::First::Caller).take(); }

} // namespace
} // namespace coll::rt
