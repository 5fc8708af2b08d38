// Complete ranks of coll-perf moe, on threads over a fake driver and the emulated kernels: every
// call, alone and in graphs, every value checked, and a row for each.

#include "runtime/exchange/moe/platform.h"
#include "test/exchange/moe_emulated.h"
#include "test/support/fakes/cuda.h"
#include "tools/coll-perf/moe/rank.h"
#include "tools/common/local_job.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace coll::perf {
namespace {

// Returns the lines of the file that rank 0 writes.
std::vector<std::string> rowsOf(const MoeTask &task) {
  rt::dl::FakeCuda cuda(task.ranks);
  rt::ScopedMoePlatform platform(rt::test::emulatedMoe(cuda.table()));
  MoeFiles files;
  files.json = testing::TempDir() + "moe_rank_test." + std::to_string(getpid()) + ".jsonl";
  const LocalJob job = makeLocalJob(task.ranks).take();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < task.ranks; ++rank)
    threads.emplace_back(
        [&, rank] { EXPECT_EQ(runMoeRank({task}, placeOf(job, rank), files), 0); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(cuda.misuse(), "");
  std::vector<std::string> rows;
  std::ifstream file(files.json);
  for (std::string row; std::getline(file, row);)
    rows.push_back(row);
  std::remove(files.json.c_str());
  return rows;
}

MoeTask smallTask() {
  MoeTask task;
  task.ranks = 2;
  task.tokens = 7;
  task.hidden = 256;
  task.topk = 3;
  task.experts = 8;
  task.sms = {4};
  task.iterations = task.repeat = 1;
  task.warmup = 0;
  task.timeoutUs = 60'000'000;
  return task;
}

TEST(MoeRankTest, MeasuresEveryCall) {
  EXPECT_EQ(rowsOf(smallTask()).size(), smallTask().calls.size());
}

TEST(MoeRankTest, MeasuresEveryCallOfTheLowLatencyMode) {
  MoeTask task = smallTask();
  task.lowLatencyTokens = {3, 7};
  const std::vector<std::string> rows = rowsOf(task);
  ASSERT_EQ(rows.size(), 12u);
  EXPECT_NE(rows[0].find("moe low latency, dispatch bf16, 2 processes"), std::string::npos);
}

} // namespace
} // namespace coll::perf
