#include "runtime/profiler/host/span_table.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace coll::profiler {
namespace {

TEST(SpanTableTest, FindsWhatIsThere) {
  SpanTable<int> table;
  std::map<uint64_t, int> expected;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    // Few different ids, which collide also at the end of the table.
    const uint64_t id = 1 + random() % 3 * 1024 + random() % 40;
    if (expected.count(id)) {
      ASSERT_NE(table.find(id), nullptr);
      EXPECT_EQ(*table.find(id), expected[id]);
      table.erase(id);
      expected.erase(id);
    } else {
      EXPECT_EQ(table.find(id), nullptr);
      *table.insert(id) = expected[id] = i;
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  for (const auto &[id, value] : expected)
    EXPECT_EQ(*table.find(id), value);
  EXPECT_EQ(table.find(0), nullptr);
  table.erase(0);
}

TEST(SpanTableTest, RefusesWhereItIsFull) {
  SpanTable<int> table;
  uint64_t id = 1;
  while (table.insert(id))
    ++id;
  EXPECT_GE(table.size(), SpanTable<int>::kMaxSpans);
  table.erase(1);
  EXPECT_NE(table.find(2), nullptr);
}

} // namespace
} // namespace coll::profiler
