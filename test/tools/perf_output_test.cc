// The output files of coll-perf if others write to the same files, or the disk is full.

#include "tools/coll-perf/moe/curves.h"
#include "tools/coll-perf/output.h"
#include "tools/coll-perf/rows.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::perf {
namespace {

class PerfOutputTest : public testing::Test {
protected:
  ~PerfOutputTest() override { std::filesystem::remove_all(folder_); }

  static std::string freshFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "coll-perf-XXXXXX").string();
    return mkdtemp(name.data());
  }

  static std::vector<Row> rows(int count) {
    Row row;
    row.caseName = "a case that is as long as those of coll-perf are, or longer";
    row.ours = 1;
    return std::vector<Row>(static_cast<size_t>(count), row);
  }
  // Counts the lines that are objects; any other line fails the test.
  int countRows() const {
    std::ifstream file(path_);
    int count = 0;
    for (std::string line; std::getline(file, line); ++count)
      EXPECT_TRUE(nlohmann::json::accept(line)) << line;
    return count;
  }
  // Runs in separate processes at the same time; returns false if one of them failed.
  template <typename Body>
  static bool inProcesses(int count, Body &&body) {
    for (int i = 0; i < count; ++i)
      if (fork() == 0)
        _exit(body() ? 0 : 1);
    bool all = true;
    for (int status = 0; wait(&status) > 0;)
      all &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return all;
  }

  const std::string folder_ = freshFolder();
  const std::string path_ = folder_ + "/rows.jsonl";
};

// Each row is longer than a buffer of the library.
TEST_F(PerfOutputTest, RowsOfRunsAtOnceStayWhole) {
  EXPECT_TRUE(inProcesses(4, [&] {
    for (int turn = 0; turn < 20; ++turn)
      if (!appendRows(path_, "coll-perf", rows(50)).ok())
        return false;
    return true;
  }));
  EXPECT_EQ(countRows(), 4 * 20 * 50);
}

TEST_F(PerfOutputTest, WhatDoesNotFitOnTheDiskIsNotBegun) {
  ASSERT_TRUE(appendRows(path_, "coll-perf", rows(3)).ok());
  EXPECT_TRUE(inProcesses(1, [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit room = {std::filesystem::file_size(path_) + 1000, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &room);
    rt::Status full = appendRows(path_, "coll-perf", rows(50));
    return full.message() == "cannot write \"" + path_ + "\": File too large";
  }));
  EXPECT_EQ(countRows(), 3);
}

TEST_F(PerfOutputTest, FilesAreReplacedByRunsAtOnce) {
  EXPECT_TRUE(inProcesses(4, [&] {
    for (int turn = 0; turn < 50; ++turn)
      if (!replaceFile(path_, std::string(100'000, 'x')).ok())
        return false;
    return true;
  }));
  EXPECT_EQ(std::filesystem::file_size(path_), 100'000u);
}

int countOf(const std::string &text, const std::string &word) {
  int count = 0;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

TEST_F(PerfOutputTest, CurvesOfTheTokenExchangeAreOverCounts) {
  const std::vector<Chart> charts = moeCharts(
      {{"dispatch", 8, 100, 20}, {"dispatch", 16, 60, 33}, {"layout", 8, 5, 0}, {"none", 0, 1, 1}},
      "multiprocessors");
  const std::string svg = drawSvg("moe", charts);
  EXPECT_EQ(countOf(svg, "<polyline"), 3); // two of times, one of speeds
  EXPECT_EQ(countOf(svg, "<circle"), 5);
  EXPECT_EQ(countOf(svg, ">multiprocessors<"), 2);
  EXPECT_NE(svg.find("<title>16: 60</title>"), svg.npos);
  EXPECT_EQ(svg.find(" B<"), svg.npos); // no bytes
  const std::string file = folder_ + "/curves.svg";
  ASSERT_TRUE(writePlot(file, "moe", charts).ok());
  EXPECT_GT(std::filesystem::file_size(file), svg.size() / 2);
  EXPECT_NE(whyNotPlottable(folder_ + "/curves.pdf"), "");
}

} // namespace
} // namespace coll::perf
