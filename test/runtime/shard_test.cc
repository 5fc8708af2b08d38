#include "runtime/program/shard.h"

#include "test/runtime/fixtures.h"

#include <numeric>
#include <set>

namespace coll::rt::test {
namespace {

const std::vector<MeshAxis> kMesh = {{"dp", 2}, {"tp", 3}};

TensorInfo tensor(std::vector<int64_t> shape, std::vector<DimSharding> sharding) {
  TensorInfo info;
  info.shape = std::move(shape);
  info.sharding = std::move(sharding);
  for (const BlockRange &block : blocksOf(info, kMesh, 0))
    info.local.push_back(block.extent);
  return info;
}

std::vector<float> counting(const TensorInfo &info) {
  std::vector<float> numbers(static_cast<size_t>(info.globalBytes()) / sizeof(float));
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  return numbers;
}

std::vector<float> slice(const TensorInfo &info, int rank) {
  std::vector<float> global = counting(info);
  std::vector<float> local(static_cast<size_t>(info.localBytes()) / sizeof(float), -1);
  sliceTensor(info, kMesh, rank, reinterpret_cast<const char *>(global.data()),
              reinterpret_cast<char *>(local.data()));
  return local;
}

TEST(ShardTest, BlocksAreCeiledToTheUnit) {
  EXPECT_EQ(blockExtent(7, 2, 1), 4);
  EXPECT_EQ(blockExtent(256, 3, 32), 96);
  EXPECT_EQ(blockExtent(0, 3, 1), 0);
  EXPECT_EQ(blockExtent(1797, 4, 1), 450);
}

TEST(ShardTest, UnevenBlocksArePaddedWithZeros) {
  TensorInfo info = tensor({7}, {{{"dp"}, 1}});
  EXPECT_EQ(slice(info, 0), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(slice(info, 3), (std::vector<float>{5, 6, 7, 0}));
}

TEST(ShardTest, LastShardsMayBeEmpty) {
  TensorInfo info = tensor({2}, {{{"tp"}, 1}});
  EXPECT_EQ(slice(info, 1), (std::vector<float>{2}));
  EXPECT_EQ(slice(info, 2), (std::vector<float>{0}));
}

TEST(ShardTest, FirstAxisIsMajor) {
  TensorInfo info = tensor({6}, {{{"tp", "dp"}, 1}});
  // Rank 1 has dp = 0, tp = 1: shard 2 of 6.
  EXPECT_EQ(slice(info, 1), (std::vector<float>{3}));
  EXPECT_EQ(slice(info, 3), (std::vector<float>{2}));
}

TEST(ShardTest, TwoDimensionsSplit) {
  TensorInfo info = tensor({3, 4}, {{{"dp"}, 1}, {{"tp"}, 1}});
  EXPECT_EQ(slice(info, 1), (std::vector<float>{3, 4, 7, 8}));
  EXPECT_EQ(slice(info, 5), (std::vector<float>{0, 0, 0, 0}));
}

TEST(ShardTest, ScalarsAndEmptyTensors) {
  TensorInfo scalar = tensor({}, {});
  EXPECT_EQ(slice(scalar, 4), (std::vector<float>{1}));
  TensorInfo empty = tensor({0, 5}, {{{"dp"}, 1}, {}});
  EXPECT_TRUE(slice(empty, 0).empty());
}

TEST(ShardTest, RangesOfABlockMakeTheBlock) {
  for (const TensorInfo &info :
       {tensor({7}, {{{"dp"}, 1}}), tensor({3, 4}, {{{"dp"}, 1}, {{"tp"}, 1}}), tensor({}, {}),
        tensor({5, 3, 4}, {{{"dp"}, 1}, {{"tp"}, 1}, {}}), tensor({4, 0, 4}, {{}, {}, {{"tp"}, 1}}),
        tensor({2, 3, 7}, {{}, {}, {{"tp"}, 1}})})
    for (int rank = 0; rank < 6; ++rank) {
      const std::vector<float> global = counting(info), whole = slice(info, rank);
      const int64_t bytes = info.localBytes();
      for (int64_t piece : {int64_t{1}, int64_t{6}, int64_t{16}, bytes + 1}) {
        std::vector<float> parts(whole.size(), -1);
        for (int64_t begin = 0; begin < bytes; begin += piece)
          sliceRange(info, kMesh, rank, reinterpret_cast<const char *>(global.data()), begin,
                     std::min(piece, bytes - begin),
                     reinterpret_cast<char *>(parts.data()) + begin);
        EXPECT_EQ(parts, whole) << "rank " << rank << ", pieces of " << piece;
      }
    }
}

// Slicing on all ranks and placing each block once gives the tensor back.
TEST(ShardTest, SliceAndPlaceAreInverse) {
  std::vector<std::vector<int64_t>> shapes = {{7, 5}, {1, 12}, {12, 1}, {4, 4}, {64, 3}};
  std::vector<DimSharding> choices = {{{}, 1},           {{"dp"}, 1}, {{"tp"}, 1},
                                      {{"dp", "tp"}, 1}, {{"tp"}, 4}, {{"tp", "dp"}, 2}};
  for (const std::vector<int64_t> &shape : shapes)
    for (const DimSharding &first : choices)
      for (const DimSharding &second : choices) {
        bool repeats = false;
        for (const std::string &axis : first.axes)
          repeats |= std::count(second.axes.begin(), second.axes.end(), axis) > 0;
        if (repeats)
          continue;
        TensorInfo info = tensor(shape, {first, second});
        std::vector<float> rebuilt(counting(info).size(), 0);
        std::set<std::vector<int64_t>> seen;
        for (int rank = 0; rank < 6; ++rank) {
          std::vector<float> local = slice(info, rank);
          std::vector<int64_t> begins;
          for (const BlockRange &block : blocksOf(info, kMesh, rank))
            begins.push_back(block.begin);
          if (!seen.insert(std::move(begins)).second)
            continue;
          placeTensor(info, kMesh, rank, reinterpret_cast<const char *>(local.data()),
                      reinterpret_cast<char *>(rebuilt.data()));
        }
        EXPECT_EQ(rebuilt, counting(info));
        EXPECT_EQ(isReplicated(info), seen.size() == 1);
      }
}

} // namespace
} // namespace coll::rt::test
