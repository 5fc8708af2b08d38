// guard.h - runs cases in child processes, so that a crash or a hang is a report.
//
// One child runs many cases, one after the other; where it ends early, the next child goes
// on behind the case that ended it.

#ifndef COLL_TEST_FUZZ_GUARD_H
#define COLL_TEST_FUZZ_GUARD_H

#include <cstdint>
#include <functional>
#include <string>

namespace coll::fuzz {

enum class Verdict : uint8_t {
  Ok,
  Refused,  // an error with a message: what invalid input should get
  Upstream, // a crash inside of the packaged parser, before any code of this project
  Finding,
};

struct Report {
  Verdict verdict = Verdict::Ok;
  std::string text; // of a crash: the signal and the functions it happened in
};

struct GuardOptions {
  int64_t casesPerChild = 100;
  int timeoutSeconds = 60;             // per case; more where the machine is busy
  bool isVerbose = false;              // leave the children's standard error stream alone
  int64_t maxBytes = int64_t(6) << 30; // of address space; 0: no limit
};

// What the case is doing, for the report of a crash or a hang. Any thread of a child.
enum class Phase : uint8_t { Prepare, Parse, Compile, RunSingle, RunRanks };
void enterPhase(Phase phase);

using RunCase = std::function<Report(int64_t index)>;
// Returns whether to go on.
using OnReport = std::function<bool(int64_t index, const Report &report)>;

// Runs cases first … last-1. Call it while the process has one thread. `onReport` is
// called here, in order, once per case.
void runCases(int64_t first, int64_t last, const GuardOptions &options, const RunCase &runCase,
              const OnReport &onReport);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_GUARD_H
