//===- dataset_test.cc - shuffled batches of a training set ---------------------===//

#include "driver/dataset.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <set>

using namespace coll;
using namespace coll::run;

namespace {

NpyArray ints(std::vector<int64_t> shape, std::vector<int32_t> values) {
  NpyArray array{NpyType::I32, std::move(shape), {}};
  array.data.assign(reinterpret_cast<char *>(values.data()),
                    reinterpret_cast<char *>(values.data() + values.size()));
  return array;
}

rt::TensorInfo argument(std::string name, std::vector<int64_t> shape) {
  rt::TensorInfo info;
  info.name = std::move(name);
  info.dtype = kCollI32;
  info.shape = info.local = std::move(shape);
  return info;
}

class DatasetTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("dataset_test", folder_));
    path_ = (folder_ + "/file.npz").str();
    // Example i is y = i, x = [10 i, 10 i + 1].
    std::vector<int32_t> x, y;
    for (int i = 0; i < 7; ++i) {
      y.push_back(i);
      x.insert(x.end(), {10 * i, 10 * i + 1});
    }
    write({{"train_y", ints({7}, y)},
           {"train_x", ints({7, 2}, x)},
           {"test_x", ints({1, 2}, {5, 6})}});
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder_); }
  void write(const std::vector<std::pair<std::string, NpyArray>> &arrays) {
    ASSERT_FALSE(bool(writeNpz(path_, arrays)));
  }
  std::string openError(const std::vector<rt::TensorInfo> &batch) {
    llvm::Expected<Dataset> dataset = Dataset::open(path_, batch);
    return dataset ? "no error" : llvm::toString(dataset.takeError());
  }

  llvm::SmallString<128> folder_;
  std::string path_;
};

TEST_F(DatasetTest, BatchesHoldWholeExamplesOnceAnEpoch) {
  // Arguments find their arrays by name, though the file has them the other way round.
  llvm::Expected<Dataset> dataset =
      Dataset::open(path_, {argument("b['x']", {2, 2}), argument("b['y']", {2})});
  ASSERT_TRUE(bool(dataset));
  EXPECT_EQ(dataset->stepsPerEpoch(), 3);
  std::unique_ptr<BatchSource> batches = dataset->makeBatches(/*epochs=*/2, /*seed=*/1);
  EXPECT_EQ(batches->numSteps(), 6);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::set<int32_t> seen;
    for (int step = 0; step < 3; ++step) {
      llvm::Expected<Tensors> batch = batches->batch(3 * epoch + step);
      ASSERT_TRUE(bool(batch));
      const int32_t *x = (*batch)[0].as<int32_t>(), *y = (*batch)[1].as<int32_t>();
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(x[2 * i], 10 * y[i]);
        EXPECT_EQ(x[2 * i + 1], 10 * y[i] + 1);
        seen.insert(y[i]);
      }
    }
    EXPECT_EQ(seen.size(), 6u);
  }
}

TEST_F(DatasetTest, OrderDependsOnSeedAndEpochAlone) {
  llvm::Expected<Dataset> dataset =
      Dataset::open(path_, {argument("x", {7, 2}), argument("y", {7})});
  ASSERT_TRUE(bool(dataset));
  auto order = [&](uint64_t seed, int64_t step) {
    llvm::Expected<Tensors> batch = dataset->makeBatches(4, seed)->batch(step);
    return batch ? (*batch)[1].data : std::vector<char>();
  };
  EXPECT_EQ(order(1, 2), order(1, 2));
  EXPECT_NE(order(1, 2), order(1, 3));
  EXPECT_NE(order(1, 2), order(2, 2));
}

TEST_F(DatasetTest, RefusesWhatDoesNotFit) {
  EXPECT_NE(openError({argument("x", {8, 2}), argument("y", {8})}).find("needs 8 examples"),
            std::string::npos);
  EXPECT_NE(openError({argument("x", {2, 3}), argument("y", {2})}).find("do not fit"),
            std::string::npos);
  EXPECT_NE(openError({argument("x", {2, 2}), argument("y", {3})}).find("differ"),
            std::string::npos);
  EXPECT_NE(openError({argument("x", {}), argument("y", {})}).find("no batch dimension"),
            std::string::npos);
  EXPECT_NE(openError({}).find("2 arrays train_*"), std::string::npos);
}

TEST_F(DatasetTest, MissingHeldOutArrayIsAnError) {
  llvm::Expected<Dataset> dataset =
      Dataset::open(path_, {argument("x", {2, 2}), argument("y", {2})});
  ASSERT_TRUE(bool(dataset));
  llvm::Expected<std::vector<NpyArray>> test = dataset->readTest();
  ASSERT_FALSE(bool(test));
  EXPECT_NE(llvm::toString(test.takeError()).find("'test_y'"), std::string::npos);
}

} // namespace
