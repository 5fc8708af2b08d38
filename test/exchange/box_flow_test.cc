// Compares parts of boxes with their rows one by one.

#include "runtime/exchange/flow/box_flow.h"
#include "test/exchange/reshard_cases.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace coll::rt::exchange::test {
namespace {

StridedBox randomBox(Random &random) {
  StridedBox box;
  box.rowBytes = 1 + below(random, 9);
  box.numLoops = static_cast<int>(below(random, 5));
  box.srcOffset = below(random, 7);
  int64_t bytes = box.rowBytes;
  for (int i = box.numLoops; i-- > 0;) {
    const auto d = static_cast<size_t>(i);
    box.count[d] = 1 + below(random, 4);
    box.srcStride[d] = bytes + below(random, 3);
    bytes = box.srcStride[d] * box.count[d];
  }
  return box;
}

TEST(BoxFlowTest, PartsAreTheRowsEndToEnd) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const StridedBox box = randomBox(random);
    std::vector<int64_t> places; // of the packed bytes
    for (RowCursor row(box); !row.done(); row.next())
      for (int64_t i = 0; i < box.rowBytes; ++i)
        places.push_back(row.src() + i);
    const int64_t begin = below(random, box.bytes());
    const int64_t bytes = 1 + below(random, box.bytes() - begin);
    std::vector<int64_t> found(static_cast<size_t>(bytes), -1);
    const std::vector<StridedBox> parts = packedParts(box, begin, bytes);
    EXPECT_LE(parts.size(), 2 * static_cast<size_t>(box.numLoops) + 1);
    for (const StridedBox &part : parts)
      for (RowCursor row(part); !row.done(); row.next())
        for (int64_t i = 0; i < part.rowBytes; ++i)
          found.at(static_cast<size_t>(row.dst() + i)) = row.src() + i;
    const auto first = places.begin() + begin;
    ASSERT_EQ(found, std::vector<int64_t>(first, first + bytes)) << "seed " << seed;
  }
}

} // namespace
} // namespace coll::rt::exchange::test
