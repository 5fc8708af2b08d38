//===- guard_test.cc - crashes of a guarded body --------------------------------===//

#include "tools/common/guard.h"

#include <csignal>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

using mlir::coll::runGuarded;

static constexpr int kCrashExitCode = 70;

TEST(GuardTest, ReturnsWhatTheBodyReturns) {
  EXPECT_EQ(runGuarded("test", [] { return 0; }), 0);
  EXPECT_EQ(runGuarded("test", [] { return 3; }), 3);
}

TEST(GuardTest, AnExitIsTheResult) {
  EXPECT_EQ(runGuarded("test", []() -> int { exit(5); }), 5);
}

TEST(GuardTest, AnAbortIsAnError) {
  EXPECT_EQ(runGuarded("test", []() -> int { abort(); }), kCrashExitCode);
}

TEST(GuardTest, ACrashOnAnotherThreadIsAnError) {
  EXPECT_EQ(runGuarded("test",
                       [] {
                         std::thread([] { raise(SIGSEGV); }).join();
                         return 0;
                       }),
            kCrashExitCode);
}

TEST(GuardTest, ASignalFromTheUserIsNotACrash) {
  EXPECT_EQ(runGuarded("test", [] { return raise(SIGTERM); }), 128 + SIGTERM);
}

TEST(GuardTest, SaysWhichSignalItWas) {
  std::string why;
  runGuarded("test", [] { return raise(SIGTERM); }, &why);
  EXPECT_EQ(why, "ended by a signal: Terminated");
  runGuarded("test", []() -> int { abort(); }, &why);
  EXPECT_EQ(why, "crashed (Aborted): the input is corrupt, or this is a bug in test");
}

TEST(GuardTest, NoRoomForTheStackIsAnError) {
  EXPECT_EQ(runGuarded("test",
                       [] {
                         // Room for little more than is in use now.
                         size_t pages = 0;
                         std::ifstream("/proc/self/statm") >> pages;
                         struct rlimit limit;
                         getrlimit(RLIMIT_AS, &limit);
                         limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + (64 << 20);
                         setrlimit(RLIMIT_AS, &limit);
                         return mlir::coll::runOnLargeStack([] { return 0; });
                       }),
            1);
}

TEST(GuardTest, EverySignalOfTheUserReachesTheBody) {
  for (int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    // The parent process may ignore it: nohup, or a shell that starts the test in the background.
    void (*before)(int) = std::signal(signal, SIG_DFL);
    EXPECT_EQ(runGuarded("test",
                         [&] {
                           kill(getppid(), signal);
                           sleep(60);
                           return 0;
                         }),
              128 + signal);
    std::signal(signal, before);
  }
}

static volatile sig_atomic_t isSignalled = 0;

TEST(GuardTest, ASecondSignalDoesNotWaitForTheBody) {
  void (*before)(int) = std::signal(SIGINT, SIG_DFL);
  std::string why;
  EXPECT_EQ(runGuarded(
                "test",
                [] {
                  std::signal(SIGINT, [](int) { isSignalled = 1; });
                  kill(getppid(), SIGINT);
                  while (isSignalled == 0)
                    usleep(1000);
                  usleep(1'100'000);
                  kill(getppid(), SIGINT);
                  sleep(60);
                  return 0;
                },
                &why),
            128 + SIGINT);
  EXPECT_EQ(why, "ended by a signal: Interrupt");
  std::signal(SIGINT, before);
}

TEST(GuardTest, TheStackIsLarge) {
  EXPECT_EQ(runGuarded("test",
                       [] {
                         volatile char bytes[64 << 20];
                         for (size_t i = 0; i < sizeof(bytes); i += 4096)
                           bytes[i] = 1;
                         return bytes[4096] - 1;
                       }),
            0);
}
