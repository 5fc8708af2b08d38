// coll-perf tune --paths on an emulated GPU: its measurements become a table, which coll-info
// shows.

#include "runtime/backend/net/gpu/platform.h"
#include "runtime/base/env.h"
#include "runtime/base/paths.h"
#include "runtime/dl/cuda.h"
#include "test/support/emulation/channel.h"
#include "tools/coll-perf/units.h"
#include "tools/common/tools.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::perf {
namespace {

// The driver is the library that the tools load; the channel kernel runs on a thread of each
// process that coll-perf forks.
class EmulatedGpu {
  std::mutex mutex_;
  std::map<rt::ChannelState *, std::unique_ptr<kernels::ChannelEmulation>> emulations_;
  rt::network::ScopedGpuPlatform platform_{
      {*rt::dl::cuda(), [] { return rt::Status(); },
       [this](const rt::ChannelLaunch &launch, rt::dl::CudaStream) {
         std::lock_guard<std::mutex> lock(mutex_);
         std::unique_ptr<kernels::ChannelEmulation> &emulation = emulations_[launch.state];
         if (!emulation)
           emulation = std::make_unique<kernels::ChannelEmulation>();
         return emulation->launch(launch);
       }}};
};

class TunePathsTest : public testing::Test {
protected:
  TunePathsTest() {
    setenv("COLL_CUDA", COLL_TEST_GPU, 1);
    setenv("COLL_NET_GPU_BLOCKS", "2", 1);
  }
  ~TunePathsTest() override {
    for (const char *name : {"COLL_CUDA", "COLL_NET_GPU_BLOCKS", "COLL_NET_SCATTER"})
      unsetenv(name);
    unlink(file_.c_str());
  }

  // Returns the output of a tool, which runs in its own process and must return `code`.
  template <typename Main>
  std::string outputOf(Main &&main, std::vector<std::string> words, int code) {
    std::vector<char *> argv;
    for (std::string &word : words)
      argv.push_back(word.data());
    testing::internal::CaptureStdout();
    const pid_t pid = fork();
    if (pid == 0) {
      const int done = main(static_cast<int>(argv.size()), argv.data());
      std::fflush(nullptr);
      _exit(done);
    }
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == code) << status;
    return testing::internal::GetCapturedStdout();
  }
  std::string tune(int code = 0) {
    return outputOf(
        perfMain,
        {"coll-perf", "tune", "--paths", "-b64K", "-e512K", "-f8", "-n1", "-w0", "--out=" + file_},
        code);
  }
  nlohmann::json table() const { return nlohmann::json::parse(std::ifstream(file_)); }

  const std::string file_ = testing::TempDir() + "tune_paths_" + std::to_string(getpid()) + ".json";
};

TEST_F(TunePathsTest, WhatIsMeasuredIsWhatServes) {
  EmulatedGpu gpu;
  const nlohmann::json route = {{"op", "all_reduce"}, {"backend", "threads"}};
  const nlohmann::json old = {{"format", "coll routes"},
                              {"version", 1},
                              {"routes", {route}},
                              {"paths",
                               {{{"kind", "verbs"}, {"path", "host"}},
                                {{"kind", "tcp"}, {"path", "host"}, {"why", "old"}}}}};
  std::ofstream(file_) << old;
  const std::string printed = tune();
  for (const char *part :
       {"tcp\n", "kernel ", "host ", "unpack ", "; pack ", "GB/s", "COLL_ROUTES="})
    EXPECT_NE(printed.find(part), std::string::npos) << part << " in " << printed;
  EXPECT_EQ(table()["routes"], old["routes"]);
  EXPECT_EQ(table()["machine"], machineName()) << "whose it was, it did not say";
  EXPECT_EQ(table()["paths"][0], old["paths"][0]);
  const nlohmann::json last = table()["paths"].back();
  EXPECT_EQ(last["kind"], "tcp");
  EXPECT_FALSE(last.contains("max_bytes"));
  EXPECT_EQ(last["why"].get<std::string>().find("measured: at 512 KiB kernel "), 0u) << last;

  setenv("COLL_NET_SCATTER", "1", 1);
  EXPECT_EQ(tune().find("kernel"), std::string::npos);
  unsetenv("COLL_NET_SCATTER");
  EXPECT_EQ(table()["paths"].back()["kind"], "tcp scatter");

  rt::ScopedEnv routes("COLL_ROUTES", file_.c_str());
  const std::string shown = outputOf(infoMain, {"coll-info"}, 0);
  EXPECT_NE(shown.find("in the table: tcp -> " + last["path"].get<std::string>()),
            std::string::npos)
      << shown;
  EXPECT_NE(shown.find("(the table of COLL_ROUTES: measured: at 512 KiB"), std::string::npos)
      << shown;
}

TEST_F(TunePathsTest, WhatIsNoTableIsLeftAlone) {
  std::ofstream(file_) << "mine";
  testing::internal::CaptureStderr();
  tune(2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(":1:1: not JSON"), std::string::npos);
  std::string text;
  std::ifstream(file_) >> text;
  EXPECT_EQ(text, "mine");
}

} // namespace
} // namespace coll::perf
