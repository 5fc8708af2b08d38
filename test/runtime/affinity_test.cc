#include "runtime/step/affinity.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

namespace coll::rt {
namespace {

// Two nodes of two cores with two threads each; siblings are numbered as Linux does.
std::vector<Processor> twoNodes() {
  return {{0, 0, 0, 0}, {1, 0, 0, 1}, {2, 1, 1, 0}, {3, 1, 1, 1},
          {4, 0, 0, 0}, {5, 0, 0, 1}, {6, 1, 1, 0}, {7, 1, 1, 1}};
}

std::vector<int> processors(const std::string &spec, int ranks) {
  Result<Affinity> affinity = Affinity::create(spec, twoNodes());
  EXPECT_TRUE(affinity.ok()) << affinity.status().toString();
  std::vector<int> all;
  for (int rank = 0; affinity && rank < ranks; ++rank)
    all.push_back(affinity->processorOf(rank));
  return all;
}

TEST(AffinityTest, NonePinsNobody) { EXPECT_EQ(processors("none", 2), (std::vector<int>{-1, -1})); }

TEST(AffinityTest, CompactFillsANodeCoresFirst) {
  EXPECT_EQ(processors("compact", 9), (std::vector<int>{0, 1, 4, 5, 2, 3, 6, 7, 0}));
}

TEST(AffinityTest, SpreadTakesTurnsOverNodes) {
  EXPECT_EQ(processors("spread", 8), (std::vector<int>{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(AffinityTest, ListIsTakenAsItIs) {
  EXPECT_EQ(processors("6,0,2-4", 6), (std::vector<int>{6, 0, 2, 3, 4, 6}));
}

TEST(AffinityTest, RefusesWhatIsNoList) {
  for (const char *spec : {"", "tight", "1,,2", "1-", "-1", "3-1", "0x1", "99999999999", "1 2"}) {
    Result<Affinity> affinity = Affinity::create(spec, twoNodes());
    ASSERT_FALSE(affinity.ok()) << spec;
    EXPECT_NE(affinity.status().message().find("neither none, compact or spread"),
              std::string::npos);
  }
}

TEST(AffinityTest, RefusesProcessorsOfOthers) {
  Result<Affinity> affinity = Affinity::create("0,8", twoNodes());
  ASSERT_FALSE(affinity.ok());
  EXPECT_NE(affinity.status().message().find("may not use processor 8"), std::string::npos);
}

TEST(AffinityTest, PinsTheThread) {
  Result<Affinity> affinity = Affinity::create("compact");
  ASSERT_TRUE(affinity.ok()) << affinity.status().toString();
  std::thread([&] {
    ASSERT_TRUE(affinity->pinThisThread(3).ok());
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<size_t>(affinity->processorOf(3)), &set));
  }).join();
}

} // namespace
} // namespace coll::rt
