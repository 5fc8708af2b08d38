// differential.h - a random step on its ranks beside the same step on one device.

#ifndef COLL_TEST_FUZZ_PROGRAMS_DIFFERENTIAL_H
#define COLL_TEST_FUZZ_PROGRAMS_DIFFERENTIAL_H

#include "test/fuzz/guard.h"
#include "test/fuzz/programs/program.h"
#include "test/fuzz/runner.h"

namespace coll::fuzz {

struct DifferentialOptions {
  // The report of a case that agrees holds the counts of its plans. Every other case is compiled
  // for links on which bytes take time and calls none, so that data is routed wherever that saves
  // bytes.
  bool countsReshards = false;
  std::string gpu; // what the ranks run on, as "sm_90"; empty: the processor
};

// Compiles and runs the program both ways, alone always on the processor, and compares all results:
// exact ones bit for bit, others within what their facts allow. Inputs come from the seed.
// Everything but agreement is a finding: the program is valid.
Report checkProgram(Runner &runner, const Program &program, uint64_t seed,
                    const DifferentialOptions &options);

// Changes of sharding, and how many of them send more bytes than every plan has to.
struct ReshardCounts {
  int64_t plans = 0;
  int64_t withFewerCalls = 0; // than a route, which sends the least
  int64_t others = 0;
  int64_t whereCallsAreFree = 0;

  std::string text() const;
  // Adds those of a report, if it holds any.
  void add(const std::string &report);
};

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_DIFFERENTIAL_H
